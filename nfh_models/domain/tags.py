"""Tags of decisions: the id of the guideline rule on which one turns, however it is written."""

import re

_ID = re.compile(r"[Rr]?([1-9][0-9]{0,2})")


def rule_id(tag: str) -> str:
    """The id of the rule that a tag names: "R12" for "R12", "r12" and "12".

    Of a tag that is no such id, as another tool may have written it, the tag itself.
    """
    found = _ID.fullmatch(tag.strip())
    return f"R{found[1]}" if found else tag


def tag_forms(tag: str) -> tuple[str, ...]:
    """Every way in which answers may be tagged with the rule of `tag`, its id first."""
    id_ = rule_id(tag)
    found = _ID.fullmatch(id_)
    return (id_, id_.lower(), found[1]) if found else (id_,)


def rule_words(tag: str) -> str:
    """A tag as it is named in a sentence: "rule R12"."""
    return f"rule {rule_id(tag)}"
