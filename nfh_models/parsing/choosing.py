"""Which parser: the words behind --parser made one that is loaded."""

from pathlib import Path

from nfh_models.parsing.parsed import Layer, Parser, ParserError

BASIC = frozenset({Layer.POS, Layer.DEPENDENCY})

FORMS = "spacy, spacy:NAME (an installed pipeline, or its folder) or stanza:FOLDER"


def check_spec(spec: str | None) -> None:
    """Raise ParserError for what describes no parser; none is loaded, and none looked for."""
    kind, colon, name = ("spacy" if spec is None else spec).partition(":")
    if not (kind == "spacy" and (name or not colon)) and not (kind == "stanza" and name):
        raise ParserError(f"{spec!r} is no parser: wanted {FORMS}")


def load_parser(spec: str | None = None, wanted: frozenset[Layer] = BASIC) -> Parser:
    """A parser by its description; the first installed spaCy pipeline by default.

    spec: see FORMS. wanted: layers that it must give. Raises ParserError (NoPipelineError
    where no English spaCy pipeline is to be had), whose sentence says what to do.
    """
    check_spec(spec)
    kind, _, name = ("spacy" if spec is None else spec).partition(":")
    if kind == "spacy":
        from nfh_models.parsing.spacy_parser import load_spacy

        return load_spacy(name or None, wanted)
    from nfh_models.parsing.stanza_parser import load_stanza

    return load_stanza(Path(name), wanted)
