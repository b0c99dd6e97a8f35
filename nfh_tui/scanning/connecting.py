"""A connection to a Dask scheduler, or a sentence that says why there is none."""

import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from nfh_tui.scanning.crew import CrewError

_Client = Any
"""Dask's own class, which is typed in part only."""

INSTALL = (
    "--scheduler needs Dask, which is not installed: `pip install 'nfh-tui[cluster]'`, here "
    "and on the machines of the workers"
)
WANTED = "wanted an address as `dask scheduler` prints it: tcp://HOST:8786"

CONNECT_SECONDS = 10
ANSWER_SECONDS = 15
"""How long a scheduler may take to be reached, and how long to be reached and to answer: Dask
itself would wait for an answer without end."""

COMPARED = ("python", "dask", "distributed", "msgpack", "cloudpickle")
"""What has to be of one version on all machines, as Dask itself warns."""

_CHECKED = ("tcp", "tls")
_PORTS = range(1, 1 << 16)


def connected(address: str) -> _Client:
    """A client of the scheduler at an address. Raises CrewError."""
    check_address(address)
    distributed: Any = import_module("distributed")
    clients: list[_Client] = []
    errors: list[Exception] = []

    def connect() -> None:
        client = distributed.Client.__new__(distributed.Client)
        try:
            client.__init__(address, timeout=CONNECT_SECONDS, set_as_default=False)
            clients.append(client)
        except Exception as error:  # noqa: BLE001 # said by the thread that waits
            client.status = "closed"  # else it waits for itself when it is forgotten
            errors.append(error)

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(ANSWER_SECONDS)
    if clients:
        return clients[0]
    if errors:
        raise CrewError(
            f"no scheduler answers at {address} ({first_line(errors[0])}); {WANTED}"
        ) from errors[0]
    raise CrewError(f"what is at {address} does not answer as a scheduler does; {WANTED}")


def check_address(address: str) -> None:
    """Raise CrewError for what cannot be an address, and where Dask is not installed."""
    try:
        import_module("distributed")
        from distributed.comm.addressing import parse_address, parse_host_port
    except ImportError as error:
        raise CrewError(INSTALL) from error
    try:
        scheme, place = parse_address(address)
        known = scheme not in _CHECKED or parse_host_port(place)[1] in _PORTS
    except ValueError as error:
        raise CrewError(f"{address!r} is no address ({first_line(error)}); {WANTED}") from error
    if not known:
        raise CrewError(f"{address!r} is no address (there is no such port); {WANTED}")


def differences(client: _Client) -> list[str]:
    """A sentence for each package that is not of one version everywhere."""
    said = client.get_versions()
    places = {"here": said["client"], "on the scheduler": said["scheduler"]}
    places |= {f"on {name}": found for name, found in said["workers"].items()}
    sentences = []
    for package in COMPARED:
        versions: dict[str, str] = {}
        for place, found in places.items():
            packages = (found or {}).get("packages") or {}
            versions.setdefault(str(packages.get(package, "missing")), place)
        if len(versions) > 1:
            listed = ", ".join(f"{version} {place}" for version, place in versions.items())
            sentences.append(f"{package} is not the same everywhere: {listed}")
    return sentences


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing is logged and no warning shown while this holds: what matters is said in
    sentences, and Dask logs a traceback where a machine is lost."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def first_line(error: BaseException) -> str:
    """The first line of what an error says; its kind where it says nothing."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
