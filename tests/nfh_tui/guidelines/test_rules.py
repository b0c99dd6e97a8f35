"""Rules are read out of Markdown strictly, and from any text at all."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfh_models import ModelsError
from nfh_tui.services.guidelines import GuidelineRule, GuidelinesError, rules_of

TEXT = """\
# Before the rules

Something to begin with.

## R1 The first

One sentence.

> A: *Two*?

### A part of it

More.
## R3 The *second* ##
# After the rules

The end.
"""

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
PIECES = st.sampled_from(
    [
        *("\n", "\r\n", "\r", "\u2028", "\x0b", " ", "\t", "#", "##", "# ", "## ", "### "),
        *("R", "R1", "R2", "R02", "R1 a", "r1 a", "R² a", "## R1 a\n", "## R2 b ##\n"),
        *("```", "````", "~~~", "> ", "- ", "    ", "a", "\ud800", "\x00", "*"),
    ]
)
MARKDOWN = st.lists(PIECES | ANY_TEXT, max_size=30).map("".join)


def test_reads_rules():
    assert rules_of(TEXT) == (
        GuidelineRule(
            "R1", "The first", "One sentence.\n\n> A: *Two*?\n\n### A part of it\n\nMore.", 5
        ),
        GuidelineRule("R3", "The *second*", "", 14),
    )


def test_a_rule_cannot_be_changed():
    [rule, _] = rules_of(TEXT)
    with pytest.raises(dataclasses.FrozenInstanceError):
        rule.title = "Another"
    assert not hasattr(rule, "__dict__")


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_other_line_ends_change_nothing(end):
    assert rules_of(TEXT.replace("\n", end)) == rules_of(TEXT)


def test_lines_are_counted_as_editors_count_them():
    """A line separator or a form feed ends no line of Markdown."""
    [rule] = rules_of("a\u2028b\x0cc\x85d\n## R1 Title")
    assert rule.line == 2


def test_order_is_the_texts_own():
    """Who puts a new rule where it belongs need not give all the others new ids."""
    assert [rule.id for rule in rules_of("## R2 b\n## R30 c\n## R1 a")] == ["R2", "R30", "R1"]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("##\tR1\tTitle", "Title"),
        ("   ##   R1   Title   ", "Title"),
        ("## R1 Title #", "Title"),
        ("## R1 Title in C#", "Title in C#"),
        ("## R1 A # B", "A # B"),
        ("## R1 [red]", "[red]"),
    ],
)
def test_titles(line, title):
    assert rules_of(line) == (GuidelineRule("R1", title, "", 1),)


@pytest.mark.parametrize(
    "inside",
    [
        "```\n## R1 code\n```",
        "````text\n```\n## R1 code\n````",
        "~~~\n```\n## R1 code\n~~~",
        "```\n## R1 code\n``` no end\n  ```",
        "    ## R1 indented",
        "> ## R1 quoted",
        "\\## R1 escaped",
        "#1 is not a heading",
        "### R1 of a lower level",
    ],
)
def test_what_is_no_heading_of_a_rule_belongs_to_the_body(inside):
    [rule, after] = rules_of(f"## R1 Title\n\na\n{inside}\n\n## R2 After")
    assert rule.body == f"a\n{inside}"
    assert after.id == "R2"


def test_code_in_one_line_opens_no_fence():
    assert len(rules_of("## R1 a\n```code``` in a line\n## R2 b")) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no rule"),
        ("# R1 Title\n### R2 Title\nR3", "no rule"),
        ("```\n## R1 never closed", "no rule"),
        ("## R1 a\n\n## R2 b\n## R1 c", "line 4: R1 is the id of the rule in line 1 too"),
        ("a\n## Flags", "line 2: '## Flags' is not a heading of a rule"),
        ("## r1 Title", "line 1: '## r1 Title' is no"),
        ("##R1 Title", "line 1: '##R1 Title' is no"),
        ("## R1: Title", "is not a heading"),
        ("## R01 Title", "is not a heading"),
        ("## R0 Title", "is not a heading"),
        ("## R1000 Title", "is not a heading"),
        ("## R٣ Title", "is not a heading"),
        ("## R1a Title", "is not a heading"),
        ("## R 1 Title", "is not a heading"),
        ("##", "line 1: '##' is not a heading"),
        ("## R1", "line 1: R1 has no title"),
        ("## R1 ##", "line 1: R1 has no title"),
        ("## \x1b[31m", r"'## \x1b[31m' is not a heading"),
        ("## " + "long " * 20, "'## long long long long long long long l…' is not a heading"),
    ],
)
def test_refuses_in_one_sentence(text, says):
    with pytest.raises(GuidelinesError) as caught:
        rules_of(text)
    message = str(caught.value)
    assert says in message
    assert "\n" not in message
    assert ". " not in message
    assert len(message) < 200


def test_the_command_line_knows_the_error():
    assert issubclass(GuidelinesError, ModelsError)


@given(ANY_TEXT | MARKDOWN)
def test_any_text_has_rules_or_is_refused(text):
    try:
        rules = rules_of(text)
    except GuidelinesError as error:
        assert str(error).isprintable()
        return
    assert rules
    assert len({rule.id for rule in rules}) == len(rules)
    assert all(rule.title.strip() for rule in rules)
    lines = [rule.line for rule in rules]
    assert lines == sorted(set(lines))


@given(st.lists(st.integers(1, 999), min_size=1, unique=True), st.text("ab #\n*>"))
def test_what_is_written_is_read(numbers, body):
    """Each rule comes back whole, whatever stands in its body but a heading."""
    body = "\n".join(line for line in body.split("\n") if not line.lstrip(" ").startswith("#"))
    text = "".join(f"## R{number} Title\n{body}\n" for number in numbers)
    rules = rules_of(text)
    assert [rule.id for rule in rules] == [f"R{number}" for number in numbers]
    assert {rule.body.strip() for rule in rules} == {body.strip()}
