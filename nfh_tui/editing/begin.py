"""What stands in the editor when an item is opened."""

from dataclasses import replace

from nfh_db.records import Item, Role, Rule
from nfh_models.domain import Answer, Kind
from nfh_tui.editing import votes
from nfh_tui.editing.adopt import heads_of
from nfh_tui.editing.drafts import load
from nfh_tui.editing.state import Content, DraftError, EditState, Source
from nfh_tui.editing.tagging import gold_vote, tag_of


def begin(item: Item, me: str, role: Role) -> EditState:
    """The draft if there is one, else my answer; for an adjudicator then gold, then the
    proposal; else nothing.

    A draft that cannot be used is passed over, and `reason` says so. An annotator is never
    given anything of others.
    """
    lost = ""
    if item.draft is not None:
        try:
            return _resumed(item, role)
        except DraftError as error:
            lost = str(error)
    state = _committed(item, me, role)
    if state is None and role is Role.ADJUDICATOR:
        state = _for_adjudicator(item, me)
    if state is None:
        state = EditState(cursor=item.anchor.start, role=role)
    return replace(state, reason=f"{state.reason}; {lost}".lstrip("; ")) if lost else state


def _resumed(item: Item, role: Role) -> EditState:
    if item.draft is None:
        raise DraftError("There is no draft.")
    state = load(item.draft.body, item)
    origin = state.reason if state.source is Source.DRAFT else _origin(state)
    return replace(
        state,
        role=role,
        source=Source.DRAFT,
        reason=origin,
        began=state.content,
        touched=state.span is not None or state.pending is not None,
    )


def _origin(state: EditState) -> str:
    if state.source is Source.EMPTY:
        return ""
    return f"from {state.reason}" if state.reason else f"from {state.source}"


def _committed(item: Item, me: str, role: Role) -> EditState | None:
    """My answer in this role; else the one I gave before the number's span was corrected."""
    for given, reason in ((item.votes, "saved"), (item.stale_votes, "for the old span")):
        for vote in given:
            mine = vote.annotator == me and vote.role is role
            if mine and vote.answer.kind is not Kind.NFH:
                return _holding(item, vote.answer, role, Source.MINE, reason, tag_of(vote))
    return None


def _for_adjudicator(item: Item, me: str) -> EditState | None:
    if item.gold is not None and item.gold.answer.kind is not Kind.NFH:
        reason = f"rule {item.gold.rule}" if item.gold.rule is not Rule.EXPERT else "expert"
        made_of = gold_vote(item)
        tag = None if made_of is None else tag_of(made_of)
        return _holding(item, item.gold.answer, Role.ADJUDICATOR, Source.GOLD, reason, tag)
    found = votes.proposal(item)
    if found is None:
        return None
    if votes.withheld(item, me):
        empty = EditState(cursor=item.anchor.start, role=Role.ADJUDICATOR)
        return replace(empty, reason="nothing preselected, as for one in eight")
    return _holding(item, found.answer, Role.ADJUDICATOR, Source.PROPOSAL, found.reason)


def _holding(
    item: Item, answer: Answer, role: Role, source: Source, reason: str, tag: str | None = None
) -> EditState:
    heads = heads_of(answer, item)
    content = Content(
        answer.kind,
        heads,
        answer.relation if len(heads) > 1 else None,
        answer.sort,
        answer.noun,
        answer.comment,
        tag,
    )
    return EditState(
        content.kind,
        content.heads,
        content.relation,
        content.sort,
        content.noun,
        content.comment,
        cursor=item.anchor.start,
        source=source,
        reason=reason,
        role=role,
        began=content,
        tag=tag,
    )
