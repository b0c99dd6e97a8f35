"""What each anchor of the sample is there to show, and which kinds its gold may have."""

from dataclasses import dataclass

from nfh_models.domain import Kind

ONE_NOUN = "REFERENCE, one noun"
REPEATED = "REFERENCE, repeated mentions"
BEHIND = "REFERENCE, noun behind"
SEVERAL = "REFERENCE, several heads"


@dataclass(frozen=True, slots=True)
class Phenomenon:
    """group: as the guidelines' table of the sample names it. kinds: of a gold in it."""

    group: str
    kinds: tuple[Kind, ...]


def _of(group: str, kinds: tuple[Kind, ...], names: str) -> dict[str, Phenomenon]:
    return {name: Phenomenon(group, kinds) for name in names.split()}


def _class(kind: Kind, names: str) -> dict[str, Phenomenon]:
    return _of(kind.value, (kind,), names)


PHENOMENA: dict[str, Phenomenon] = {
    **_of(
        ONE_NOUN,
        (Kind.REFERENCE,),
        "turn-before same-turn number-differs three-away nearer-wrong modifier compound-last "
        "compound-first possessive-measure partitive-noun partitive-pronoun chain percent",
    ),
    **_of(
        REPEATED, (Kind.REFERENCE,), "several-mentions singular-plural other-sense two-words"
    ),
    # Of "A or B noun" the first number refers to the noun; the second has it as its own.
    **_of(BEHIND, (Kind.REFERENCE, Kind.NOT_NFH), "pair"),
    **_of(BEHIND, (Kind.REFERENCE,), "behind"),
    **_of(
        SEVERAL,
        (Kind.REFERENCE,),
        "and-nouns and-names and-twice or-side or-twice or-more name-as-kind",
    ),
    **_class(Kind.AGE, "age-predicate age-name age-turn age-years-word"),
    **_class(Kind.YEAR, "year-four-digits year-two-digits year-words year-decade"),
    **_class(
        Kind.CURRENCY,
        "currency-bare currency-money-word currency-note currency-bid currency-hundreds",
    ),
    **_class(Kind.TIME, "time-at time-minutes time-morning time-oclock"),
    **_class(
        Kind.PEOPLE,
        "people-generic people-you people-only people-one-another people-table "
        "people-is-the-one",
    ),
    **_class(
        Kind.OTHER,
        "countdown list-mark sum count-in code-telephone code-model code-radio code-size "
        "measure-score measure-speed measure-degrees measure-marks noun-joke noun-favour "
        "noun-drink noun-blow clause",
    ),
    **_class(Kind.UNKNOWN, "pointing cut-off"),
    **_class(Kind.NOT_NFH, "adjectives label-noun name as-name one-and-only no-number"),
    **_class(Kind.BROKEN, "words-lost interleaved rubbish foreign"),
}
