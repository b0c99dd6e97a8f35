"""Who was invited, and by what secret each is known."""

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Guest:
    """Somebody invited. mode: why their workbench opens: browse, annotate or adjudicate.

    admin: they may do all that whoever started the server may do in a workbench.
    """

    name: str
    mode: str
    admin: bool = False

    @property
    def words(self) -> str:
        """What they were invited for."""
        return f"{self.mode}, admin" if self.admin else self.mode


class Guests:
    """The people invited, for as long as this object lives: no secret is ever written down.

    Each has two secrets. The token stands in the link that is sent to them; only its hash is
    kept. The cookie is what their browser shows from then on; it is computed from a key that
    is made anew each time. Neither does in the place of the other.
    """

    def __init__(self, guests: Sequence[Guest]) -> None:
        self.guests = tuple(guests)
        self._key = secrets.token_bytes(SECRET_BYTES)
        self._hashes: dict[Guest, bytes] = {}

    def invite(self, guest: Guest) -> str:
        """A new token for one of `guests`; the one they had before is worth nothing now."""
        token = secrets.token_urlsafe(SECRET_BYTES)
        self._hashes[guest] = _hashed(token)
        return token

    def by_token(self, token: str) -> Guest | None:
        """Whose link this is; None if nobody's."""
        return _whose(_hashed(token), self._hashes)

    def cookie(self, guest: Guest) -> str:
        """What the guest's browser is given to show."""
        return hmac.new(self._key, guest.name.encode(), hashlib.sha256).hexdigest()

    def by_cookie(self, cookie: str) -> Guest | None:
        """Whose cookie this is; None if nobody's."""
        given = cookie.encode("utf-8", "replace")
        return _whose(given, {guest: self.cookie(guest).encode() for guest in self._hashes})


def _hashed(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _whose(given: bytes, known: dict[Guest, bytes]) -> Guest | None:
    """Compared with everybody's, each in constant time: how long it takes tells nothing."""
    found = None
    for guest, secret in known.items():
        if hmac.compare_digest(given, secret):
            found = guest
    return found
