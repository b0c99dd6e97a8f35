"""What a settlement did: the record of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nfh_db.records import Rule


@dataclass(frozen=True, slots=True)
class SettleReport:
    """What a settlement did, or would do, to the anchors that it looked at.

    new, same, replaced, taken_back: golds made, found as they would be made, made otherwise,
    and removed since the votes settle nothing any more. changed: those of which somebody
    changed gold, votes or span meanwhile, and which so were left. skipped: by reason, in
    words. classes, patterns: of new, same and replaced golds, by kind and by the pattern of
    the votes. act_id: None where nothing was written.
    """

    rule: Rule
    least: int
    at: str
    anchors: int = 0
    new: int = 0
    same: int = 0
    replaced: int = 0
    taken_back: int = 0
    changed: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    classes: Mapping[str, int] = field(default_factory=dict)
    patterns: Mapping[str, int] = field(default_factory=dict)
    act_id: int | None = None
    dry_run: bool = False
