"""The base class of errors that a user can do something about."""


class ModelsError(Exception):
    """The message is a sentence that says what is wrong, where, and what to do next."""
