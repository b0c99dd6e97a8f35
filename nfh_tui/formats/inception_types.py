"""The layers of INCEpTION that hold our answers, and a project's own ones in their place.

UIMA CAS, the JSON form 0.4.0 (https://github.com/apache/uima-uimaj-io-jsoncas) and XMI
(https://uima.apache.org/d/uimaj-current/ref.html, chapter on XMI). Tokens and sentences are
DKPro Core's types, as INCEpTION has them (https://inception-project.github.io, user's guide,
appendix on formats). Layers that somebody makes there are called webanno.custom.NAME; a link
feature holds structures of a type of its own, with `role` and `target`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TypeGuard

from nfh_db.formats.grid import MarkError
from nfh_db.formats.wording import shown

SOFA = "uima.cas.Sofa"
DOCUMENT = "uima.tcas.DocumentAnnotation"
ANNOTATION = "uima.tcas.Annotation"
STRING, INTEGER = "uima.cas.String", "uima.cas.Integer"
TOKEN = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"  # noqa: S105 - no password
SENTENCE = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Sentence"
INITIAL_VIEW = "_InitialView"
TEXT = "webanno.custom.NFHText"

Types = dict[str, dict[str, object]]
"""What stands under %TYPES."""

BASIC = frozenset(
    {
        SOFA,
        DOCUMENT,
        ANNOTATION,
        TOKEN,
        SENTENCE,
        TEXT,
        "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.DocumentMetaData",
        "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.TagsetDescription",
        "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.TagDescription",
        "de.tudarmstadt.ukp.clarin.webanno.api.type.CASMetadata",
    }
)
"""Types that say nothing a person annotated."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The names of layers and features, by what they are here.

    number: the layer of numbers, with the features kind, sort, noun, comment, relation, heads
    and kept (our own JSON). head: the layer of mentions, with the feature same. turn: of turns,
    with speaker, turn_number, said_from and said_until. named: what a project named itself.
    """

    number: str = "webanno.custom.NFH"
    kind: str = "kind"
    sort: str = "sort"
    noun: str = "noun"
    comment: str = "comment"
    relation: str = "relation"
    heads: str = "heads"
    kept: str = "nfh"
    head: str = "webanno.custom.NFHHead"
    same: str = "same"
    turn: str = "webanno.custom.NFHTurn"
    speaker: str = "speaker"
    turn_number: str = "number"
    said_from: str = "saidFrom"
    said_until: str = "saidUntil"
    named: frozenset[str] = frozenset()

    @classmethod
    def of(cls, names: Mapping[str, str]) -> "Layer":
        """With a project's own names. Raises MarkError for a name of nothing known here."""
        known = [field.name for field in fields(cls) if field.name != "named"]
        for ours in names:
            if ours not in known:
                raise MarkError(
                    f"the mapping's table [layer] holds {shown(ours)}; wanted one of "
                    f"{', '.join(known)}"
                )
        return replace(cls(), **dict(names), named=frozenset(names))

    @property
    def heads_link(self) -> str:
        """The type of what the link feature of a number holds."""
        return f"{self.number}{self.heads[:1].upper()}{self.heads[1:]}Link"

    @property
    def same_link(self) -> str:
        """The type of what the link feature of a mention holds."""
        return f"{self.head}{self.same[:1].upper()}{self.same[1:]}Link"

    def types(self) -> Types:
        """The type system, as CAS JSON has it."""
        strings = (self.kind, self.sort, self.noun, self.comment, self.relation, self.kept)
        return {
            TOKEN: _type(TOKEN, ANNOTATION),
            SENTENCE: _type(SENTENCE, ANNOTATION),
            TEXT: _type(TEXT, ANNOTATION, replaced=STRING),
            self.turn: _type(
                self.turn,
                ANNOTATION,
                **{
                    self.speaker: STRING,
                    self.turn_number: INTEGER,
                    self.said_from: INTEGER,
                    self.said_until: INTEGER,
                },
            ),
            self.head: _type(self.head, ANNOTATION, **{self.same: f"{self.same_link}[]"}),
            self.same_link: _type(
                self.same_link, "uima.cas.TOP", role=STRING, target=self.head
            ),
            self.number: _type(
                self.number,
                ANNOTATION,
                **dict.fromkeys(strings, STRING),
                **{self.heads: f"{self.heads_link}[]"},
            ),
            self.heads_link: _type(
                self.heads_link, "uima.cas.TOP", role=STRING, target=self.head
            ),
        }


def _type(name: str, super_type: str, **features: str) -> dict[str, object]:
    return {
        "%NAME": name,
        "%SUPER_TYPE": super_type,
        **{key: {"%NAME": key, "%RANGE": range_} for key, range_ in features.items()},
    }


def below(types: Mapping[str, object], name: str) -> frozenset[str]:
    """A type with all that are made from it, as a file's %TYPES tell."""
    above = {
        one: content.get("%SUPER_TYPE") for one, content in types.items() if _is_type(content)
    }
    found = {name}
    grown = True
    while grown:
        more = {one for one, super_type in above.items() if super_type in found} - found
        found |= more
        grown = bool(more)
    return frozenset(found)


def _is_type(content: object) -> TypeGuard[dict[str, object]]:
    return isinstance(content, dict) and isinstance(content.get("%SUPER_TYPE"), str)


def layers_in(types: Mapping[str, object]) -> list[str]:
    """The layers of a file that people annotate, by name."""
    return sorted(below(types, ANNOTATION) - BASIC)


def check_layer(types: Mapping[str, object], layer: Layer) -> None:
    """Raise MarkError unless the type system has the layer of numbers, and the features of it
    that a project named itself.
    """
    found = types.get(layer.number)
    if not isinstance(found, dict):
        there = ", ".join(map(shown, layers_in(types)[:12])) or "none"
        raise MarkError(
            f"the type system has no layer {shown(layer.number)}; layers that are there: "
            f"{there}. Name the one that holds numbers in a file with "
            '[layer] number = "its name" (--map)'
        )
    features = ("kind", "sort", "noun", "comment", "relation", "heads")
    own = {key for one in below(types, ANNOTATION) for key in _features(types.get(one))}
    for ours in features:
        theirs = getattr(layer, ours)
        if ours in layer.named and theirs not in own:
            there = ", ".join(map(shown, _features(found))) or "none"
            raise MarkError(
                f"the layer {shown(layer.number)} has no feature {shown(theirs)} for {ours}; "
                f"features that are there: {there}"
            )


def _features(content: object) -> list[str]:
    if not isinstance(content, dict):
        return []
    return [key for key in content if not key.startswith("%")]
