"""What goes wrong with models and parsers in a way that a person can do something about."""


class ModelsError(Exception):
    """A sentence that says what, where, and what to do."""
