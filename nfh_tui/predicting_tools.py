"""What predicts a text: the models that were asked for, and the parser that they need."""

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nfh_models.identification.case import Identifier
from nfh_models.identification.recipes import RULES, RecipeError
from nfh_models.parsing.choosing import BASIC, load_parser
from nfh_models.parsing.parsed import Parser, ParserError
from nfh_models.resolution.item import Resolver
from nfh_models.resolution.recipes import ENCODER, SMALL
from nfh_tui.choosing_models import Chosen, Loaded, identifier_for
from nfh_tui.choosing_resolvers import resolver_for
from nfh_tui.predicting import Tools

if TYPE_CHECKING:
    from nfh_db.store import Store

NO_PATTERNS = (
    "no parser is installed, so the patterns that need one (three of the spoons) were not "
    "tried; no one and you two were"
)

BOTH = (SMALL, ENCODER)
"""Recipes whose models identify, too."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a call asks for.

    model: of resolution; None is the model in the package. identifier: None is the same model
    where it identifies, else the rules. identify: False where all numbers are known to be
    fused heads. patterns: None tries those that can be tried. parser: as --parser names it.
    """

    model: str | None = None
    identifier: str | None = None
    identify: bool = True
    patterns: bool | None = None
    parser: str | None = None


def tools_for(store: "Store | None", asked: Asked) -> tuple[Tools, list[str]]:
    """The tools, loaded, and sentences that a person should read about them.

    store: where names and numbers of models are looked up; nothing is written to it. Raises
    RecipeError, ModelFileError and ParserError.
    """
    loaded: Loaded = {}
    named = store if asked.model is not None else None
    resolver = resolver_for(named, asked.model, register=False, loaded=loaded)
    identifier = _identifier(store, asked, resolver, loaded) if asked.identify else None
    notes = [one.aside for one in (resolver, identifier) if one is not None and one.aside]
    patterns = asked.patterns is not False
    parser, note = _parser(asked, resolver, identifier)
    if note:
        notes.append(note)
    return Tools(identifier, resolver, parser, patterns), list(dict.fromkeys(notes))


def _identifier(
    store: "Store | None", asked: Asked, resolver: Chosen[Resolver], loaded: Loaded
) -> Chosen[Identifier]:
    if asked.identifier is not None:
        return identifier_for(store, asked.identifier, register=False, loaded=loaded)
    if resolver.model.recipe in BOTH:
        named = store if asked.model is not None else None
        with suppress(RecipeError):  # an encoder that was fitted for resolution alone
            return identifier_for(named, asked.model or SMALL, register=False, loaded=loaded)
    return identifier_for(None, RULES, loaded=loaded)


def _parser(
    asked: Asked, resolver: Chosen[Resolver], identifier: Chosen[Identifier] | None
) -> tuple[Parser | None, str]:
    """The parser, if it is needed, or if the patterns can have one; and a sentence."""
    needs = resolver.model.needs
    if identifier is not None:
        needs |= identifier.model.needs
    if asked.patterns is not False:
        wanted = needs | BASIC
    elif needs:
        wanted = needs
    else:
        return None, ""
    try:
        return load_parser(asked.parser, wanted), ""
    except ParserError:
        if needs or asked.patterns or asked.parser is not None:
            raise
        return None, NO_PATTERNS
