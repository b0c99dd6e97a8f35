"""What commands print, made ready to be shown in a dialog of another width."""

from nfh_tui.services.report_process import unwrapped

BROKEN = """\
linear-3, a model of resolution, was made of three hundred examples on a morning
in spring, and nobody has tried it on anything else since then.

  inclusive  75.0 of 1,000 items that it did not learn from, in all of the table
  nearest    71.0 of 1,000 items that it did not learn from, in all of the table
- a list of things, each of which begins with a sign and goes on for long enough
- and another one
short
lines stay
"""


def test_paragraphs_are_joined_and_tables_lists_and_short_lines_are_not() -> None:
    lines = unwrapped(BROKEN).splitlines()
    assert lines[0].endswith(
        "on a morning in spring, and nobody has tried it on anything else since then."
    )
    assert lines[1] == ""
    assert lines[2].startswith("  inclusive") and lines[3].startswith("  nearest")
    assert lines[4:] == [*BROKEN.splitlines()[5:]]
