"""Making SQL of fragments: values become parameters, and only SQL is put into SQL."""

from collections.abc import Iterable

LOADING = "SELECT id FROM batch WHERE state = 'loading'"
"""The imports under way, whose rows nobody sees."""


class Binder:
    """Gives each value a parameter, and the fragment the parameter's name."""

    def __init__(self, me_id: int) -> None:
        self.parameters: dict[str, object] = {"q_me": me_id}

    def one(self, value: object) -> str:
        """The parameter of one value."""
        name = f"q_{len(self.parameters)}"
        self.parameters[name] = value
        return f":{name}"

    def all(self, values: Iterable[object]) -> str:
        """The parameters of several values, as a list."""
        return ", ".join(self.one(value) for value in values)


def fill(fragment: str, **parts: str) -> str:
    """A fragment made whole of parts that are SQL or names of parameters, never values."""
    return fragment.format(loading=LOADING, **parts)
