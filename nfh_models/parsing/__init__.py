"""Parsers behind one protocol, on words that are tokens already.

Importing this package loads no framework: a parser loads its own when it is made.
"""

from nfh_models.parsing.base import (
    Layer,
    Parsed,
    Parser,
    ParserError,
    Stretch,
    Tree,
    load_parser,
)
from nfh_models.parsing.spacy_parser import (
    NoPipelineError,
    Pipeline,
    Tagger,
    installed_pipelines,
    load_tagger,
)

__all__ = [
    "Layer",
    "NoPipelineError",
    "Parsed",
    "Parser",
    "ParserError",
    "Pipeline",
    "Stretch",
    "Tagger",
    "Tree",
    "installed_pipelines",
    "load_parser",
    "load_tagger",
]
