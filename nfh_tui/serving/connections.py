"""How many connections are held, and whose end first: those invited always find room.

Whoever can reach the port can open connections and say nothing. Each is a file that the
process has open, and at the system's limit nobody gets in any more. So connections on which
nobody invited has been seen are few, in all and of one address; beyond that the oldest of them
is ended for the new one, which may be somebody's who was invited.
"""

import ipaddress
import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from nfh_tui.serving.guests import Guest

log = logging.getLogger("nfh_tui.serving")

SECONDS_TO_ASK = 20.0
"""Seconds that a connection may be open, or stay open, without a whole request on it."""

LINGERING = 2.0
"""Seconds in which the rest of a request is read that has been answered already."""

FILES_WANTED = 65_536
"""Open files, if the system gives so many; more are never of use."""

FILES_UNKNOWN = 1024
"""Where the system does not say."""

SPARE_FILES = 320
"""For what is just being accepted, twice the queue of 128, and for the program itself."""

FILES_OF_VISIT = 8
"""A socket, three pipes to the child, and what is open while it starts."""

LEAST_REST = 64
MOST_STRANGERS, MOST_OF_ADDRESS, MOST_OF_GUEST = 256, 64, 16
LEAST_OF_GUEST = 2
IPV6_NETWORK = 64
"""Leading bits of an address that one household shares."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Connections held at most: without an invitation in all and of an address; of a guest.

    visits: workbenches open at once.
    """

    strangers: int
    of_address: int
    of_guest: int
    visits: int


def limits_of(files: int, visits: int, guests: int) -> Limits:
    """What fits into so many open files. visits: wanted; fewer, at least one, where need be."""
    fitting = (files - SPARE_FILES - LEAST_REST) // FILES_OF_VISIT
    visits = max(1, min(visits, fitting))
    half = max(LEAST_REST, files - SPARE_FILES - visits * FILES_OF_VISIT) // 2
    strangers = min(MOST_STRANGERS, half)
    of_guest = max(LEAST_OF_GUEST, min(MOST_OF_GUEST, half // max(1, guests)))
    return Limits(strangers, min(MOST_OF_ADDRESS, strangers), of_guest, visits)


def open_files() -> int:
    """How many files this process may have open, after asking the system for more."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return FILES_UNKNOWN
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_WANTED if hard == resource.RLIM_INFINITY else min(hard, FILES_WANTED)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return FILES_WANTED if soft == resource.RLIM_INFINITY else soft


@runtime_checkable
class Held(Protocol):
    """A connection that can be ended."""

    def drop(self) -> None:
        """End it at once."""


Group = str | Guest
"""Whose a connection is: a guest's, or nobody's known, from an address."""

PROXY = "a proxy"


class Connections:
    """All connections that are open, by whose they are, in each group the oldest first.

    behind_proxy: a proxy on this machine passes on what others send, so that connections from
    here are not counted as those of one address.
    """

    def __init__(self, limits: Limits, *, behind_proxy: bool = False) -> None:
        self.limits = limits
        self._behind_proxy = behind_proxy
        self._group_of: dict[Held, Group] = {}
        self._groups: dict[Group, dict[Held, None]] = {}
        self._strangers = 0

    def came(self, connection: Held, address: str) -> None:
        """A connection was opened; nobody knows yet by whom."""
        group = self._address_group(address)
        self._put(connection, group)
        if group != PROXY and len(self._groups[group]) > self.limits.of_address:
            self._drop_oldest(group)
        elif self._strangers > self.limits.strangers:
            self._drop_oldest(
                max(self._address_groups(), key=lambda one: len(self._groups[one]))
            )

    def asked(self, connection: object, guest: Guest | None, address: str) -> None:
        """A request came on a connection: by somebody invited, or by None of them."""
        if not isinstance(connection, Held) or connection not in self._group_of:
            return
        group = self._address_group(address) if guest is None else guest
        if group == self._group_of[connection]:
            return
        self.gone(connection)
        self._put(connection, group)
        if guest is not None and len(self._groups[guest]) > self.limits.of_guest:
            self._drop_oldest(guest)

    def gone(self, connection: object) -> None:
        """A connection has ended, or is a workbench's from now on and counted as one."""
        if not isinstance(connection, Held) or connection not in self._group_of:
            return
        group = self._group_of.pop(connection)
        del self._groups[group][connection]
        if not self._groups[group]:
            del self._groups[group]
        self._strangers -= isinstance(group, str)

    def _put(self, connection: Held, group: Group) -> None:
        self._group_of[connection] = group
        self._groups.setdefault(group, {})[connection] = None
        self._strangers += isinstance(group, str)

    def _drop_oldest(self, group: Group) -> None:
        oldest = next(iter(self._groups[group]))
        self.gone(oldest)
        oldest.drop()
        whose = group if isinstance(group, str) else group.name
        log.warning(
            "closed the oldest idle connection of %s: too many are open",
            whose,
            extra={"uninvited": True},
        )

    def _address_groups(self) -> list[Group]:
        return [group for group in self._groups if isinstance(group, str)]

    def _address_group(self, address: str) -> Group:
        try:
            number = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return address
        if self._behind_proxy and number.is_loopback:
            return PROXY
        if number.version == 4:
            return address
        return str(ipaddress.ip_network((number, IPV6_NETWORK), strict=False))
