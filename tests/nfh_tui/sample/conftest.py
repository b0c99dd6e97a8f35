"""The shipped corpus, read as an import reads it, beside the source it was made from."""

from dataclasses import dataclass

import pytest

from nfh_db.formats.files import Source
from nfh_db.formats.registry import by_name
from nfh_db.formats.rows import GoldRow
from nfh_db.records import Role, Vote
from nfh_models.domain import Answer, ItemDisagreement, Passage, anchor_id, compare_all
from nfh_tui.sample import corpus_path
from nfh_tui.services.imports import passage_of
from tools.sample_corpus import corpus_records


@dataclass(frozen=True)
class Item:
    """One line of the corpus. shows, cut: what its source says that the anchor is for."""

    row: GoldRow
    passage: Passage
    shows: str
    cut: bool

    @property
    def lemmas(self) -> list[str]:
        return [token.lemma for token in self.passage.tokens]

    @property
    def votes(self) -> list[Vote]:
        return [vote for vote in self.row.votes if vote.role is Role.ANNOTATOR]

    @property
    def answers(self) -> list[Answer]:
        return [vote.answer for vote in self.votes]

    @property
    def disagreement(self) -> ItemDisagreement:
        return compare_all(self.answers, self.lemmas)

    @property
    def words(self) -> str:
        return self.passage.words(self.row.anchor.start, self.row.anchor.end)


@pytest.fixture(scope="session")
def corpus() -> list[Item]:
    """Every line of the shipped corpus, in its order."""
    sources = {
        record.public_id: source
        for source, record in corpus_records(corpus_path().parent / "dialogs")
    }
    items = []
    for row in by_name("gold").read(Source(corpus_path())):
        assert isinstance(row, GoldRow)
        passage = passage_of(row.passage)
        source = sources[anchor_id(passage.digest, row.anchor)]
        items.append(Item(row, passage, source.phenomenon, source.cut))
    return items
