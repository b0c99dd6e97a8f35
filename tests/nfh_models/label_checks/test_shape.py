"""A kind against the number itself."""

from collections.abc import Callable

import pytest

from nfh_models.domain import Kind
from nfh_models.label_checks.checks import value

Found = Callable[..., dict[str, str]]


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("*five*", 5),
        ("*two* *hundred* *and* *five*", 205),
        ("*18,000*", 18000),
        ("*three* *million* *four* *thousand* *twenty-one*", 3004021),
        ("*10K*", 10000),
        ("*7-7-3*", None),
        ("*nine* *one* *one*", None),
        ("*nineteen* *ninety-four*", None),
        ("*nothing*", None),
        ("*9/11*", None),
    ],
)
def test_what_a_number_counts(kit: object, words: str, number: float | None) -> None:
    scene = kit.scene(f"There were {words} .", Kind.OTHER)  # type: ignore[attr-defined]
    assert value(scene, scene.cases[0].anchor) == number


@pytest.mark.parametrize(
    ("check", "line", "wrong", "right"),
    [
        ("clock-word", "At *six* o'clock .", Kind.OTHER, Kind.TIME),
        ("clock-word", "At *six* p.m. .", Kind.OTHER, Kind.TIME),
        ("money-sign", "It cost $ *60* .", Kind.OTHER, Kind.CURRENCY),
        ("money-sign", "It cost *$60* .", Kind.AGE, Kind.NOT_NFH),
        ("age-words", "At the age of *four* he left", Kind.OTHER, Kind.AGE),
        ("age-words", "He is *four* years old", Kind.OTHER, Kind.AGE),
        ("no-hour", "We meet in *35* .", Kind.TIME, Kind.OTHER),
        ("mangled-digits", "You start at *8.3* then", Kind.TIME, Kind.OTHER),
        ("mangled-digits", "It is a *0.44* .", Kind.OTHER, Kind.NOT_NFH),
        ("mangled-digits", "It is *4E-05* .", Kind.OTHER, Kind.NOT_NFH),
        ("chain-kind", "She is *36-24-36* .", Kind.AGE, Kind.OTHER),
        ("chain-kind", "She is *36* *-* *24* *-* *36* .", Kind.AGE, Kind.OTHER),
    ],
)
def test_kind_against_shape(
    found: Found, check: str, line: str, wrong: Kind, right: Kind
) -> None:
    assert check in found(line, wrong)
    assert check not in found(line, right)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("And I for *one* am fed up", Kind.PEOPLE),
        ("The train leaves at *0* .", Kind.TIME),
        ("They came at *1430* .", Kind.TIME),
        ("It hit *2.95* .", Kind.CURRENCY),
        ("We built it in *1994* .", Kind.OTHER),
        ("The tree turned *903* .", Kind.AGE),
        ("It was *five* .", Kind.YEAR),
    ],
)
def test_shapes_that_fit(found: Found, line: str, kind: Kind) -> None:
    assert found(line, kind) == {}
