"""The recipes that learn nothing, as resolvers."""

import json
from pathlib import Path

import pytest

from nfh_models.domain import IMPLICIT_KINDS, Anchor, Kind, Turn
from nfh_models.parsing.base import load_parser
from nfh_models.parsing.spacy_parser import NoPipelineError
from nfh_models.resolution import base, cues
from nfh_models.resolution.base import Choice, Item, Several, parse_items
from nfh_models.resolution.baselines import (
    DeterministicResolver,
    NearestResolver,
    NounChoice,
    NounKind,
)
from nfh_models.resolution.cues import CuesResolver
from nfh_models.statistics import distance

from .handmade import WordParser, item_of, passage_of

CLASSES = len(IMPLICIT_KINDS)

WALK = item_of(
    "Ida/PROPN saw/VERB geese/NOUN and/CCONJ foxes/NOUN by/ADP noon/NOUN and/CCONJ then/ADV "
    "[ one/NUM ] Per/PROPN in/ADP snow/NOUN"
)


def chosen(spec: str, item: Item) -> tuple[str, str | None]:
    """The choice and the second of a kind of nearest noun."""
    [made] = NearestResolver(NounChoice.of(spec)).resolve([item])
    assert made is not None
    return made.choice, made.second


def test_kinds_of_nearest_noun() -> None:
    assert chosen("first", WALK) == ("2", "4")
    assert chosen("last", WALK) == ("12", "6")
    assert chosen("closest", WALK) == ("6", "12")
    assert chosen("closest-before", WALK)[0] == "6"
    assert chosen("first+names", WALK) == ("0", "2")
    assert chosen("last+names", WALK) == ("12", "10")
    assert chosen("closest+names", WALK) == ("10", "6")
    assert chosen("closest-before+names", WALK)[0] == "6"


def test_of_two_equally_close_the_one_before_wins() -> None:
    assert chosen("closest", item_of("cups/NOUN [ one/NUM ] jugs/NOUN")) == ("0", "2")


@pytest.mark.parametrize("kind", NounKind)
def test_names_serve_where_there_is_no_noun_and_else_it_is_other(kind: NounKind) -> None:
    named = item_of("Ida/PROPN saw/VERB [ one/NUM ]")
    assert chosen(kind, named) == ("0", None)
    assert chosen(kind, item_of("Yes [ one/NUM ]")) == ("OTHER", None)
    assert chosen(kind, item_of("[ twenty/NUM one/NUM ]")) == ("OTHER", None)


def test_the_default_is_nearest_noun_as_it_was() -> None:
    [made] = NearestResolver().resolve([WALK])
    assert WALK.parsed is not None
    assert made == base.predict(WALK.passage, WALK.anchor, WALK.parsed.pos)


def test_distance_counts_from_the_nearest_token_of_the_anchor() -> None:
    assert [distance(Anchor(2, 4), at) for at in range(6)] == [2, 1, 0, 0, 1, 2]


def test_cues_resolver_says_what_cues_say() -> None:
    old = item_of("How/ADV old/ADJ are/AUX you/PRON ?/PUNCT | [ Seven/NUM ] ./PUNCT")
    made = CuesResolver().resolve([old, WALK])
    expected = []
    for item in (old, WALK):
        assert item.parsed is not None
        expected.append(cues.predict(item.passage, item.anchor, item.parsed.pos))
    assert made == expected
    assert made[0] is not None
    assert made[0].choice == "AGE"


def test_a_parse_of_a_part_of_the_passage_is_enough() -> None:
    item = item_of("cups/NOUN jugs/NOUN saw/VERB [ one/NUM ] ./PUNCT", parsed=False)
    [part] = parse_items(
        [item_of("jugs saw [ one ] .", parsed=False)], CuesResolver.needs, WordParser()
    )
    placed = Item(item.passage, item.anchor, part.parsed, 1)
    for resolver in (CuesResolver(), NearestResolver(NounChoice(NounKind.FIRST))):
        [made] = resolver.resolve([placed])
        assert made is not None
        assert made.choice == "1"
        assert made.scores[CLASSES] is None


# --- deterministic --------------------------------------------------------------------------


def determined(written: str) -> Choice | None:
    """What the patterns say."""
    [made] = DeterministicResolver().resolve([item_of(written)])
    return made


def test_a_pattern_with_a_head() -> None:
    made = determined(
        "Oh/INTJ/intj/5 ,/PUNCT/punct/5 [ three/NUM/nsubj/5 ] of/ADP/prep/2 goats/NOUN/pobj/3 "
        "limped/VERB/root/5"
    )
    assert made is not None
    assert (made.choice, made.second, made.margin) == ("4", None, None)
    assert [at for at, score in enumerate(made.scores) if score is not None] == [CLASSES + 4]
    assert made.several == Several(1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("joint", "several"), [("and", Several(0, 1, 0)), ("or", Several(0, 0, 1))]
)
def test_a_pattern_with_two_heads(joint: str, several: Several) -> None:
    made = determined(
        f"[ two/NUM/nsubj/5 ] of/ADP/prep/0 cups/NOUN/pobj/1 {joint}/CCONJ/cc/2 "
        "jugs/NOUN/conj/2 broke/VERB/root/5"
    )
    assert made is not None
    assert (made.choice, made.second, made.margin) == ("2", "4", 0.0)
    assert made.several == several


OF = "[ three/NUM/nsubj/3 ] of/ADP/prep/0 {}/PRON/pobj/1 left/VERB/root/3"


def test_persons_and_pronouns_behind_of() -> None:
    for written in (OF.format("us"), OF.format("you"), "no/DET/det/1 [ one/NOUN/root/1 ]"):
        made = determined(written)
        assert made is not None
        assert made.choice == Kind.PEOPLE.value
    assert determined(OF.format("them")) is None


def test_no_pattern_no_answer() -> None:
    assert determined("I/PRON/nsubj/1 saw/VERB/root/1 [ two/NUM/dobj/1 ]") is None


@pytest.mark.parametrize(
    "resolver", [NearestResolver(), CuesResolver(), DeterministicResolver()]
)
def test_an_item_without_its_parse_is_refused(
    resolver: NearestResolver | CuesResolver | DeterministicResolver,
) -> None:
    with pytest.raises(ValueError, match="without a parse"):
        resolver.resolve([item_of("[ one ] .", parsed=False)])


def test_a_parse_beside_the_anchor_is_refused() -> None:
    item = item_of("[ one/NUM ] ./PUNCT cups/NOUN")
    moved = Item(item.passage, item.anchor, item.parsed, 1)
    with pytest.raises(ValueError, match="lacks its anchor"):
        NearestResolver().resolve([moved])


# --- on the release's development file -------------------------------------------------------


@pytest.fixture(scope="module")
def reference_rows(data_dir: Path) -> list[tuple[Item, list[int]]]:
    """The first 120 rows, parsed: those with heads in the text."""
    try:
        parser = load_parser()
    except NoPipelineError as error:
        pytest.skip(str(error))
    rows = []
    with (data_dir / "resolution" / "nfh_dev.jsonl").open(encoding="utf-8") as lines:
        for _, line in zip(range(120), lines, strict=False):
            row = json.loads(line)
            if isinstance(row["head"][0], int):
                anchor = Anchor(row["anchors_indices"][0], row["anchors_indices"][-1] + 1)
                passage = passage_of(row["tokens"], [Turn(0, None, 0, len(row["tokens"]))])
                rows.append((Item(passage, anchor), row["head"]))
    items = parse_items([item for item, _ in rows], NearestResolver.needs, parser)
    return list(zip(items, [heads for _, heads in rows], strict=True))


def test_the_order_of_the_kinds_is_the_papers(
    reference_rows: list[tuple[Item, list[int]]],
) -> None:
    shares = {}
    for kind in NounKind:
        made = NearestResolver(NounChoice(kind)).resolve([item for item, _ in reference_rows])
        right = [
            one is not None and one.choice.isdigit() and int(one.choice) in heads
            for one, (_, heads) in zip(made, reference_rows, strict=True)
        ]
        shares[kind.value] = sum(right) / len(right)
    assert max(shares["first"], shares["last"]) < shares["closest"] < shares["closest-before"]
    assert shares["closest-before"] > 0.5
