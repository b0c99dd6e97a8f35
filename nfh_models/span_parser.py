"""Heads of phrases by an installed spaCy pipeline; spaCy is loaded with the pipeline."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nfh_models.lean_spacy import import_spacy
from nfh_models.parsing import Pipeline, Stretch, installed_pipelines
from nfh_models.span_heads import Found, Phrase, by_rule, syntactic_head

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

PARSER = "parser"
NEEDED = frozenset(
    (
        "tok2vec transformer curated_transformer tagger morphologizer attribute_ruler parser"
    ).split()
)
BATCH = 128
REACH = 60
"""Tokens on either side of a phrase that are parsed with it, within its turns."""

LONGEST_PHRASE = 200
"""A longer stretch is no phrase: it is left to the rule."""

Stretched = tuple[str, int, int]
"""A stretch to be parsed: the passage's digest, first token, token behind the last."""


class ParserHeads:
    """Heads by a dependency parse of the turns in which the phrases stand.

    name: the pipeline with its version, as "en_core_web_sm 3.8.0".
    """

    def __init__(self, language: "Language", name: str) -> None:
        self.name = name
        self._language = language

    def heads(self, phrases: Sequence[Phrase]) -> list[Found]:
        """The head of each phrase; each stretch of a passage is parsed once."""
        around = [_around(phrase) for phrase in phrases]
        wanted: dict[Stretched, Phrase] = {}
        for phrase, key in zip(phrases, around, strict=True):
            if key is not None:
                wanted.setdefault(key, phrase)
        docs = (
            self._doc(Stretch.of(phrase.passage, start, end))
            for (_, start, end), phrase in wanted.items()
        )
        parsed = dict(zip(wanted, self._language.pipe(docs, batch_size=BATCH), strict=True))
        return [
            _head(phrase, key, parsed[key]) if key is not None else _ruled(phrase)
            for phrase, key in zip(phrases, around, strict=True)
        ]

    def _doc(self, stretch: Stretch) -> "Doc":
        from spacy.tokens import Doc

        return Doc(self._language.vocab, list(stretch.words), list(stretch.spaces))


def load_parser() -> ParserHeads | None:
    """The first installed English pipeline with a parser that loads; None without one."""
    for pipeline in installed_pipelines():
        if PARSER not in pipeline.components:
            continue
        try:
            return _load(pipeline)
        except (ImportError, OSError, ValueError, LookupError, TypeError):
            # A damaged package: the next one may be whole, and there is the rule.
            continue
    return None


def _load(pipeline: Pipeline) -> ParserHeads:
    import_spacy()
    import spacy

    unneeded = [name for name in pipeline.components if name not in NEEDED]
    language = spacy.load(pipeline.package, exclude=unneeded)
    return ParserHeads(language, f"{pipeline.package} {pipeline.version}")


def _around(phrase: Phrase) -> Stretched | None:
    """The tokens to be parsed with a phrase: its turns, as far as they are near."""
    if phrase.end - phrase.start > LONGEST_PHRASE:
        return None
    passage = phrase.passage
    first = passage.turns[passage.turn_of(phrase.start)].start
    last = passage.turns[passage.turn_of(phrase.end - 1)].end
    return (
        passage.digest,
        max(first, phrase.start - REACH),
        min(last, phrase.end + REACH),
    )


def _head(phrase: Phrase, key: Stretched, doc: "Doc") -> Found:
    _, shift, _ = key
    head = syntactic_head(
        [token.text for token in doc],
        [token.head.i for token in doc],
        [token.pos_ for token in doc],
        phrase.start - shift,
        phrase.end - shift,
    )
    return _ruled(phrase) if head is None else Found(head + shift, parsed=True)


def _ruled(phrase: Phrase) -> Found:
    return Found(by_rule(phrase), parsed=False)
