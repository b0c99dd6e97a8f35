"""The layers of INCEpTION that hold our answers, and a project's own ones in their place.

UIMA CAS, the JSON form 0.4.0 (https://github.com/apache/uima-uimaj-io-jsoncas) and XMI
(https://uima.apache.org/d/uimaj-current/ref.html, chapter on XMI). Tokens and sentences are
DKPro Core's types, as INCEpTION has them (https://inception-project.github.io, user's guide,
appendix on formats). Layers that somebody makes there are called webanno.custom.NAME; a link
feature holds structures of a type of its own, with `role` and `target`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from nfh_db.formats.grid import MarkError
from nfh_db.formats.wording import shown

if TYPE_CHECKING:
    import cassis

DOCUMENT = "uima.tcas.DocumentAnnotation"
ANNOTATION = "uima.tcas.Annotation"
STRING, INTEGER = "uima.cas.String", "uima.cas.Integer"
TOKEN = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"  # noqa: S105 - no password
SENTENCE = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Sentence"
TOP, FS_ARRAY = "uima.cas.TOP", "uima.cas.FSArray"
DKPRO = "de.tudarmstadt."
INITIAL_VIEW = "_InitialView"
TEXT = "webanno.custom.NFHText"

Types = dict[str, dict[str, object]]
"""What stands under %TYPES."""

BASIC = frozenset(
    {
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
            self.same_link: _type(self.same_link, TOP, role=STRING, target=self.head),
            self.number: _type(
                self.number,
                ANNOTATION,
                **dict.fromkeys(strings, STRING),
                **{self.heads: f"{self.heads_link}[]"},
            ),
            self.heads_link: _type(self.heads_link, TOP, role=STRING, target=self.head),
        }


def _type(name: str, super_type: str, **features: str) -> dict[str, object]:
    return {
        "%NAME": name,
        "%SUPER_TYPE": super_type,
        **{key: {"%NAME": key, "%RANGE": range_} for key, range_ in features.items()},
    }


def attribute(feature: str) -> str:
    """What the library calls a feature: two names mean something else there."""
    return f"{feature}_" if feature in ("self", "type") else feature


def below(types: "cassis.TypeSystem", name: str) -> frozenset[str]:
    """A type with all that are made from it."""
    if not types.contains_type(name, match_exactly=True):
        return frozenset({name})
    return frozenset(one.name for one in types.get_type(name).descendants)


def _layers(types: "cassis.TypeSystem") -> list[str]:
    """The layers that people annotate, those that a project made first."""
    found = below(types, ANNOTATION) - BASIC
    return sorted(found, key=lambda name: (name.startswith(DKPRO), name))


def check_layer(types: "cassis.TypeSystem", layer: Layer) -> None:
    """Raise MarkError unless the type system has the layer of numbers, and the features of it
    that a project named itself.
    """
    if not types.contains_type(layer.number, match_exactly=True):
        there = ", ".join(map(shown, _layers(types)[:12])) or "none"
        raise MarkError(
            f"the type system has no layer {shown(layer.number)}; layers that are there: "
            f"{there}. Name the one that holds numbers in a file with "
            '[layer] number = "its name" (--map)'
        )
    annotated = below(types, ANNOTATION)
    own = {
        feature.name
        for type_ in types.get_types()
        if type_.name in annotated
        for feature in type_.features
    }
    for ours in ("kind", "sort", "noun", "comment", "relation", "heads"):
        theirs = getattr(layer, ours)
        if ours in layer.named and attribute(theirs) not in own:
            features = [one.name for one in types.get_type(layer.number).features]
            there = ", ".join(map(shown, features)) or "none"
            raise MarkError(
                f"the layer {shown(layer.number)} has no feature {shown(theirs)} for {ours}; "
                f"features that are there: {there}"
            )
