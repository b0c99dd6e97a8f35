"""What `nfh-tui formats` prints, and what an export says of its format beforehand."""

from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version

from nfh_db.formats.format import Format, How, Takes, What
from nfh_tui.formats.losses import SAYS, by_how

WIDTH = 80
SETTINGS = ("map", "offsets", "columns", "pause", "encoding", "window")
TAKES = {
    Takes.TEXT: "a text file",
    Takes.BYTES: "a file of bytes",
    Takes.FOLDER: "a folder or zip",
}


def overview(formats: tuple[Format, ...]) -> Iterator[str]:
    """A line or two a format, those with labels first."""
    name = max(len(format_.name) for format_ in formats)
    groups = (("Annotations", True), ("Dialogs without labels", False))
    for title, labelled in groups:
        yield title
        for format_ in formats:
            if format_.labelled is labelled:
                way = "in, out" if format_.writable else "in"
                ends = " ".join(format_.extensions)
                yield f"  {format_.name:<{name}}  {way:<7}  {ends}"
                yield from _wrapped(format_.description, " " * (name + 4))
        yield ""
    yield "`nfh-tui formats NAME` says what one can hold, its settings, and shows a line of it."


def details(format_: Format) -> Iterator[str]:
    """All of one format."""
    yield f"{format_.name}  ({' '.join(format_.extensions)}; {format_.direction})"
    yield from _wrapped(format_.description, "  ")
    yield f"  is {' or '.join(TAKES[takes] for takes in format_.takes)}"
    for how, whats in by_how(format_).items():
        if whats:
            yield from _wrapped(f"{SAYS[how]}: {'; '.join(whats)}", "  ", "    ")
    if format_.limits:
        yield from _wrapped(format_.limits, "  ", "    ")
    settings = [f"--{name}" for name in SETTINGS if name in format_.settings]
    if settings:
        yield f"  settings of an import: {', '.join(settings)}"
    if format_.extra:
        yield f"  needs {format_.extra}: {_installed(format_.extra)}"
    if format_.example:
        yield "  for example:"
        yield f"  {format_.example}"


def described(format_: Format) -> dict[str, object]:
    """The same as JSON has it."""
    return {
        "name": format_.name,
        "extensions": list(format_.extensions),
        "import": True,
        "export": format_.writable,
        "labelled": format_.labelled,
        "takes": [str(takes) for takes in format_.takes],
        "holds": {str(what): str(how) for what, how in (format_.holds or {}).items()},
        "settings": sorted(format_.settings),
        "extra": format_.extra or None,
        "installed": not format_.extra or _version(format_.extra) is not None,
        "description": format_.description,
        "example": format_.example,
    }


def before_export(format_: Format) -> Iterator[str]:
    """What the format has no terms for: said before anything is written."""
    held = by_how(format_)
    if held[How.SIDE]:
        yield f"{format_.name} keeps in a side file: {'; '.join(held[How.SIDE])}"
    if held[How.NO]:
        yield f"{format_.name} cannot hold: {'; '.join(held[How.NO])}"
    if format_.limits:
        yield f"{format_.name}: {format_.limits}"


def after_export(name: str, lost: Mapping[str, int]) -> str | None:
    """How many anchors lost what the format cannot hold; None where none did.

    Tokens and turns are every anchor's, so that their number says nothing.
    """
    told = [
        f"{what} of {number:,}"
        for what, number in lost.items()
        if number and what not in (What.TOKENS, What.SPEAKERS)
    ]
    return f"{name}: anchors that lost something: {'; '.join(told)}" if told else None


def _installed(extra: str) -> str:
    found = _version(extra)
    return f"{found} is there" if found else "pip install 'nfh-tui[formats]'"


def _version(extra: str) -> str | None:
    try:
        return version(extra)
    except PackageNotFoundError:
        return None


def _wrapped(text: str, first: str, rest: str | None = None) -> Iterator[str]:
    from textwrap import wrap

    yield from wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
