"""Singular and plural as a number asks for them, and what is a name."""

import subprocess
import sys
from dataclasses import replace

import pytest

from nfh_models.domain import Passage
from nfh_tui.widgets.substitution import is_name, noun_form, plural_of, singular_of

from .test_evidence_readings import at, passage_of


@pytest.mark.parametrize(
    ("word", "one", "many"),
    [
        ("sales", "sale", "sales"),
        ("Jings", "Jing", "Jings"),
        ("many", "many", "many"),
        ("quiz", "quiz", "quizzes"),
        ("stomach", "stomach", "stomachs"),
        ("monarch", "monarch", "monarchs"),
        ("self", "self", "selves"),
        ("half", "half", "halves"),
        ("crisis", "crisis", "crises"),
        ("crises", "crisis", "crises"),
        ("passerby", "passerby", "passersby"),
        ("asses", "ass", "asses"),
        ("theives", "thief", "theives"),
        ("pence", "penny", "pence"),
        ("penny", "penny", "pennies"),
        ("criteria", "criterion", "criteria"),
        ("alcohol", "alcohol", "alcohol"),
        ("jeans", "jeans", "jeans"),
        ("mathematics", "mathematics", "mathematics"),
        ("odds", "odds", "odds"),
        ("骆驼", "骆驼", "骆驼"),
        ("צאן", "צאן", "צאן"),
        ("buses", "bus", "buses"),
        ("policeman", "policeman", "policemen"),
        ("golf", "golf", "golfs"),
        ("lenses", "lens", "lenses"),
        ("TVs", "TV", "TVs"),
        ("U.F.O.s", "U.F.O.", "U.F.O.s"),
        ("kg", "kg", "kgs"),
        ("%", "%", "%"),
    ],
)
def test_forms(word, one, many):
    assert (singular_of(word), plural_of(word)) == (one, many)


@pytest.mark.parametrize(
    ("said", "word", "plural", "form"),
    [
        ("BUY A DOG|. BUY TWO|!", "DOG", True, "DOGS"),
        ("I SAW ALL THE DOGS|. SAW ONE|!", "DOGS", False, "DOG"),
        ("I like the Germans|.", "Germans", False, "German"),
        ("She has a TV at home|.", "TV", True, "TVs"),
        ("She has a TV at home|.", "TV", False, "TV"),
        ("He stole the Power and a power it is|.", "Power", True, "Powers"),
        ("Buy The Green Golf Umbrella Now", "Umbrella", True, "Umbrellas"),
        ("I know that James left|.", "James", False, "James"),
        ("I know that Paloma left|.", "Paloma", True, "Paloma"),
        ("Some men and a man|.", "man", True, "men"),
    ],
)
def test_the_form_in_a_passage(said, word, plural, form):
    passage = passage_of(said)
    assert noun_form(passage, at(passage, word), plural=plural) == form


@pytest.mark.parametrize(
    ("said", "word", "name"),
    [
        ("I saw Paloma|.", "Paloma", True),
        ("Paloma left|.", "Paloma", False),
        ("I saw the DOG|.", "DOG", False),
        ("I saw the Dog and a dog|.", "Dog", False),
        ("Buy The Green Golf Umbrella Now", "Golf", False),
        ("Ask Ada|.", "Ada", True),
        ("I do|.", "I", False),
    ],
)
def test_names(said, word, name):
    passage = passage_of(said)
    assert is_name(passage, at(passage, word)) is name


def test_the_library_of_plurals_is_loaded_with_the_first_noun():
    code = (
        "import sys; "
        "assert 'pluralizer' not in sys.modules; "
        "from nfh_tui.widgets.substitution import plural_of; "
        "plural_of('dog'); "
        "assert 'pluralizer' in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, env={"PYTHONPATH": ":".join(sys.path)}
    )
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("said", "word", "lemmas", "plural", "form"),
    [
        ("He called and I got two calls", "calls", {"called": "call"}, False, "call"),
        ("They fought two fights", "fought", {"fought": "fight"}, True, "fought"),
        (
            "One call and they called",
            "call",
            {"called": "call", "calls": "call"},
            True,
            "calls",
        ),
        ("A man met the men", "man", {"men": "man"}, True, "men"),
    ],
)
def test_forms_of_verbs_are_neither_made_nor_taken(said, word, lemmas, plural, form):
    passage = passage_of(said)
    tokens = tuple(
        replace(one, lemma=lemmas.get(passage.word(place), one.lemma.removesuffix("s")))
        for place, one in enumerate(passage.tokens)
    )
    passage = replace(passage, tokens=tokens)
    assert noun_form(passage, at(passage, word), plural=plural) == form


def test_the_words_of_a_long_passage_are_not_read_one_by_one(make, monkeypatch):
    turns = [("A", f"Stone number{n} lies here and the Rock too .") for n in range(500)]
    passage = make.passage([*turns, ("B", "I saw two cats and Maria .")])
    spellings, places = passage.spellings, passage.places
    assert spellings["Rock"] == [n * 9 + 6 for n in range(500)]
    assert places["number7"] == [7 * 9 + 1]
    read = []
    word = Passage.word
    monkeypatch.setattr(Passage, "word", lambda self, at: read.append(at) or word(self, at))
    last = len(passage.tokens)
    assert noun_form(passage, last - 4, plural=False) == "cat"
    assert is_name(passage, last - 2)
    assert len(read) < 40
