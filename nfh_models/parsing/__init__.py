"""Parsers behind one protocol, on words that are tokens already.

Importing this package loads no framework: a parser loads its own when it is made.
"""

from nfh_models.parsing.choosing import load_parser
from nfh_models.parsing.parsed import Layer, Parsed, Parser, ParserError, Tree
from nfh_models.parsing.pipelines import (
    NoPipelineError,
    Pipeline,
    Tagger,
    installed_pipelines,
    load_tagger,
)
from nfh_models.parsing.stretch import Stretch

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
