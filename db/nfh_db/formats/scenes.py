"""What formats share whose scenes may stand apart in a file, and whose speakers have ids."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, Protocol, TypeVar

from nfh_db.formats.reading import Origin, Source


def told_apart(names: Mapping[str, str | None]) -> dict[str, str | None]:
    """Names by id; those of several ids have the id behind them: two men called MAN."""
    often = Counter(name for name in names.values() if name is not None)
    return {
        one: name if name is None or often[name] == 1 else f"{name} ({one})"
        for one, name in names.items()
    }


def with_words(file: Source) -> Iterator[tuple[int, str]]:
    """The lines with something in them, of a file whose rows were looked at before."""
    return ((number, text) for number, text in file.lines() if text.strip())


class Grouped(Protocol):
    """What belongs to a group of the file, whose members may stand apart."""

    @property
    def group(self) -> str:
        """The group's name."""


G = TypeVar("G", bound=Grouped)


class Gathering(Generic[G]):
    """Puts together what belongs together, though it stands apart in the file.

    Made of the names of all groups, one a member, it knows how large each is; so a group is
    handed on, and forgotten, as soon as its last member has come.
    """

    def __init__(self, source: Origin, names: Iterable[str]) -> None:
        self._source = source
        self._awaited = Counter(names)
        self._open: dict[str, list[G]] = {}

    def groups(self, members: Iterable[G]) -> Iterator[list[G]]:
        """Each group in the order of its members, the one that is whole first, first.

        Raises FormatError where members are missing: the file cannot be read a second time.
        """
        for member in members:
            name = member.group
            group = self._open.setdefault(name, [])
            group.append(member)
            if len(group) == self._awaited[name]:
                yield self._open.pop(name)
                del self._awaited[name]
        if self._awaited:
            raise self._source.error(
                None, "has to be read twice, and could be read only once; save it to a file"
            )
