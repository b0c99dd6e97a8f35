"""The one clock of the store, so that tests can stop it."""

from datetime import UTC, datetime


def now() -> str:
    """The present time in UTC, ISO 8601 with milliseconds and "Z"."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
