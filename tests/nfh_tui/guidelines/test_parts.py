"""The text is cut into parts without a word lost, and changes are told part by part."""

from hypothesis import given
from hypothesis import strategies as st

from nfh_db.guidelines import Guideline
from nfh_tui.services.guidelines import (
    change_lines,
    changed_words,
    changes_of,
    first_text,
    guide_of,
    parts_of,
    titled,
)

MORE = "## R22 One more\n\nNew.\n"


def test_the_first_text_is_whole_in_its_parts() -> None:
    text = first_text()
    parts = parts_of(text)
    assert [part.id for part in parts if part.id] == [f"R{n}" for n in range(1, 22)]
    assert [part.title for part in parts if not part.id] == [
        "Numbers whose noun is missing", "The answers", "Flags, comments and tags"
    ]  # fmt: skip
    said = "\n".join(f"{part.name}\n{part.body}" for part in parts).replace("#", "")
    missing = set(text.replace("#", "").split()) - set(said.split())
    # The heading over the rules has nothing of its own under it.
    assert missing <= {"rules"}


def test_what_stands_before_the_first_heading_is_kept(text: str) -> None:
    assert parts_of(f"Hello.\n\n{text}")[0].body == "Hello."


def test_changes_are_told_by_rule(text: str) -> None:
    later = text.replace("Widen it.", "Widen it, always.").replace("## R12 ", "## R13 ")
    changes = changes_of(text, later)
    assert [(change.id, change.how) for change in changes] == [
        ("R1", "changed"), ("R13", "new"), ("R12", "gone")
    ]  # fmt: skip
    assert "-Widen it." in changes[0].lines
    assert "+Widen it, always." in changes[0].lines
    assert changed_words(changes) == "R1 changed; R13 new; R12 gone"
    assert "  -Widen it." in list(change_lines(changes))


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert changes_of(one, one) == ()
    if one.split() != other.split():
        assert changes_of(one, other)


def test_a_text_without_rules_stops_nothing(text: str) -> None:
    guide = guide_of([Guideline(1, text, None, "2026"), Guideline(2, "no rules", "x", "2026")])
    assert (guide.version, guide.rules) == (2, ())
    assert "hold no rule" in guide.trouble
    assert guide_of([Guideline(1, "none", None, "2026"), Guideline(2, text, "x", "2026")]).rules


def test_tags_have_titles(text: str) -> None:
    guide = guide_of([Guideline(1, text, None, "2026")])
    assert guide.words("5") == "R5 Age and money"
    assert guide.words("R9") == "R9 (no such rule now)"
    assert guide.words("§2") == "§2 (no such rule now)"
    assert titled("5", {}) == "R5"
