"""Under which addresses the server may be asked for, and from which pages.

A page of somebody else's can make a browser send requests here. It cannot choose the Host
and Origin that the browser sends with them, so these two are what is looked at.
"""

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

ANYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 - named to be told apart, not to be bound


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server listens, and how it is reached if not there.

    public_url: scheme, name and perhaps port of a proxy in front; None if there is none.
    """

    host: str
    port: int
    public_url: str | None = None

    @property
    def url(self) -> str:
        """What stands before the path in links."""
        if self.public_url is not None:
            return self.public_url
        host = socket.gethostname() if self.host in ANYWHERE else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def is_local(self) -> bool:
        """True if only this machine can connect."""
        return self.host == "localhost" or _is_loopback(self.host)

    @property
    def is_secure(self) -> bool:
        """True if browsers come by https."""
        return self.url.startswith("https:")

    @property
    def cookie_name(self) -> str:
        """Of its own for each port: browsers do not keep those of two ports apart."""
        name = f"nfh-tui-{self.port}"
        return f"__Host-{name}" if self.is_secure else name

    def trusts_host(self, host: str) -> bool:
        """True for a Host that nobody else can make a browser send.

        The port may be another one: that of a forwarding (ssh -L), or a proxy's. A number
        needs no look-up, so no look-up can have been turned to us (DNS rebinding).
        """
        try:
            name = urlsplit(f"//{host}").hostname
        except ValueError:
            return False
        if not name:
            return False
        own = {"localhost", self.host.lower(), (urlsplit(self.url).hostname or "").lower()}
        return name in own or _is_number(name)

    def trusts_origin(self, origin: str | None, host: str) -> bool:
        """True if the page that asks is ours: it came from the very address it asks now."""
        wanted = self.public_url if self.public_url is not None else f"http://{host}"
        return origin is not None and origin.lower() == wanted.lower()


def public_url(given: str) -> str:
    """The address of a proxy as browsers name it in Origin. Raises ValueError."""
    parts = urlsplit(given)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("wanted an address such as https://nfh.example.org")
    if parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None:
        raise ValueError("wanted scheme and name only, without path: the proxy passes all on")
    usual = {"http": 80, "https": 443}[parts.scheme]
    port = "" if parts.port in {None, usual} else f":{parts.port}"
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{name}{port}"


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(name: str) -> bool:
    return _is_number(name) and ipaddress.ip_address(name).is_loopback
