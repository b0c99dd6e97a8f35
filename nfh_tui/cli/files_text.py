"""What an import says of a file for a person, out of its report as JSON has it."""

from collections.abc import Iterator, Mapping

from nfh_db.formats.wording import counted, visible

SHOWN_CONFLICTS = 10


def imported_lines(report: Mapping[str, object]) -> Iterator[str]:
    """Warnings, labels that differ from what was kept, and what is new."""
    name = visible(str(report.get("name")), 200)
    if "error" in report:
        yield f"{name}: {visible(str(report['error']), 2_000)}"
        return
    yield from noted(report)
    yield f"{name}: {in_words(report)}"


def noted(report: Mapping[str, object]) -> Iterator[str]:
    """What a person should know besides the figures."""
    name = visible(str(report.get("name")), 200)
    for warning in _texts(report.get("warnings")):
        yield f"{name}: warning: {visible(warning, 500)}"
    conflicts = _texts(report.get("conflicts"))
    for conflict in conflicts[:SHOWN_CONFLICTS]:
        yield f"{name}: {visible(conflict, 500)}"
    if len(conflicts) > SHOWN_CONFLICTS:
        yield f"{name}: and more like these; --json lists them"


def in_words(report: Mapping[str, object]) -> str:
    """What came in, on one line."""
    if report.get("already") is True:
        return "imported before; nothing changed"

    def number(key: str) -> int:
        value = report.get(key)
        return value if isinstance(value, int) else 0

    new = f"{counted(number('passages_new'), 'passage')}, "
    new += counted(number("anchors_new"), "anchor")
    parts = [
        f"{counted(number('rows'), 'row')}: {new} new",
        f"gold {number('gold_new'):,} new, {number('gold_same'):,} the same, "
        f"{number('gold_replaced'):,} replaced",
    ]
    if number("votes_new"):
        parts.append(f"{counted(number('votes_new'), 'answer')} new")
    if number("flags_new"):
        parts.append(f"{counted(number('flags_new'), 'flag')} new")
    if _texts(report.get("conflicts")):
        parts.append("labels that differ from what was kept are listed above")
    return "; ".join(parts) + (". Nothing was stored" if report.get("dry_run") is True else "")


def stale_gold_words(count: int) -> str:
    """What an export or a release says of gold that no file has."""
    one = count == 1
    return (
        f"{counted(count, 'number')} of the database {'has' if one else 'have'} stale gold, "
        f"which is in no file: {'its' if one else 'their'} span was replaced after "
        f"{'it was' if one else 'they were'} decided, and nobody has decided "
        f"{'it' if one else 'them'} anew (state:stale finds what nobody has answered anew)"
    )


def _texts(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list | tuple) else []
