"""SQL of the keys about the guidelines: rules that answers name, and versions."""

from nfh_db.query.binding import Binder, fill
from nfh_db.query.registry import NONE
from nfh_models.domain import tag_forms

# The first term is the one that the partial index has.
TAGGED = """+a.id IN (
    SELECT v.anchor_id FROM answer AS v
    WHERE v.rule_tag IS NOT NULL AND v.rule_tag IN ({values}) AND v.removed = 0
        AND (v.batch_id IS NULL OR v.batch_id NOT IN ({loading})))"""
UNTAGGED = """+a.id NOT IN (
    SELECT v.anchor_id FROM answer AS v
    WHERE v.rule_tag IS NOT NULL AND v.removed = 0
        AND (v.batch_id IS NULL OR v.batch_id NOT IN ({loading})))"""

VERSION = """+a.id IN (
    SELECT g.anchor_id FROM gold AS g JOIN answer AS v ON v.id = g.answer_id
    WHERE g.rule = 'expert' AND g.removed = 0
        AND v.guideline_version {operator} {value})"""
VERSION_ANY = """+a.id IN (
    SELECT g.anchor_id FROM gold AS g JOIN answer AS v ON v.id = g.answer_id
    WHERE g.rule = 'expert' AND g.removed = 0 AND v.guideline_version IN ({values}))"""


def tagged(values: tuple[str, ...], binder: Binder) -> str:
    """An answer names any of these rules, or none does any."""
    plain = [form for value in values if value != NONE for form in tag_forms(value)]
    parts = [fill(TAGGED, values=binder.all(plain))] if plain else []
    return " OR ".join([*parts, fill(UNTAGGED)] if NONE in values else parts)
