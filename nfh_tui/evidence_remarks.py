"""What came with the answers: seconds, rules, what was seen, how often right, and comments."""

from collections.abc import Collection, Sequence
from datetime import datetime

from nfh_db.records import Gold, Item, Role, Rule, Vote
from nfh_tui.guidelines.guide import Guide
from nfh_tui.lanes import GOLD, Lane, is_counted
from nfh_tui.rows import Part, Rows

OLDER = "the rule read otherwise then"


def add_remarks(
    rows: Rows,
    item: Item,
    lanes: Sequence[Lane],
    rules: Guide,
    *,
    seconds: bool,
    blind: bool,
    told: Collection[str],
) -> None:
    """What is to be said of each answer, by its key; nothing where there is nothing.

    seconds: the table has told them. told: what stands above already, in the same words.
    """
    body = Rows(rows.width)
    if not seconds:
        timed = [
            (lane, f"{time:.0f}") for lane in lanes if (time := _seconds(lane)) is not None
        ]
        body.text(_figures("", timed, "s"), indent=1, hang=3)
    if not blind:
        known = [(lane, right) for lane in lanes if (right := _right(lane, item))]
        body.text(_figures("right in ", known, "%"), indent=1, hang=3)
    for lane in lanes:
        key: Part = (f"{lane.key} ", lane.role)
        facts = [fact for fact in _facts(lane, item, rules, blind=blind) if fact not in told]
        if facts:
            body.text([key, (" · ".join(facts), "note")], indent=1, hang=3)
        for comment in _comments(lane):
            if comment not in told:
                body.text([key, ("; ", "note"), (comment, "comment")], indent=1, hang=5)
    if body.made:
        rows.heading("Remarks")
        rows.made += body.made


def _figures(title: str, figures: Sequence[tuple[Lane, str]], unit: str) -> list[Part]:
    """One figure a lane, each in one piece: "1: 12 s · 2: 9 s"."""
    parts: list[Part] = [(title, "note")] if figures and title else []
    for number, (lane, figure) in enumerate(figures):
        parts += [(" · ", "note")] if number else []
        parts.append((f"{lane.key}:\u00a0{figure}\u00a0{unit}", lane.role))
    return parts


def _seconds(lane: Lane) -> float | None:
    return None if lane.vote is None else lane.vote.seconds


def _right(lane: Lane, item: Item) -> str:
    """In how many of a hundred answers this annotator was found right; "" if not known."""
    vote = lane.vote
    if vote is None or not vote.counts:
        return ""
    known = [one for one in item.competences if one.annotator == vote.annotator]
    return f"{known[0].accuracy * 100:.0f}" if known else ""


def _comments(lane: Lane) -> list[str]:
    own = [lane.answer.comment, "" if lane.vote is None else lane.vote.answer.comment]
    return list(dict.fromkeys(filter(None, own)))


def _facts(lane: Lane, item: Item, rules: Guide, *, blind: bool) -> list[str]:
    facts = []
    if lane.key == GOLD and item.gold is not None:
        facts += _gold_facts(item.gold, blind=blind)
    if lane.vote is not None:
        if not is_counted(lane):
            facts.append(f"a {lane.vote.type}: not counted")
        facts += _vote_facts(lane.vote, rules)
    return [fact for fact in facts if fact]


def _gold_facts(gold: Gold, *, blind: bool) -> list[str]:
    by = "" if blind or not gold.adjudicator else gold.adjudicator
    rule = "expert" if gold.rule is Rule.EXPERT else f"{gold.rule}"
    return [rule, by, when(gold.decided_at or "")]


def _vote_facts(vote: Vote, rules: Guide) -> list[str]:
    return [
        "saw the model" if vote.saw_model else "",
        "saw answers" if vote.saw_votes and vote.role is Role.ANNOTATOR else "",
        rules.words(vote.rule_tag) if vote.rule_tag else "",
        OLDER if rules.is_outdated(vote.rule_tag, vote.guideline_version) else "",
    ]


def when(at: str) -> str:
    """A UTC time of the store in the time of this place, to the minute; as it is if odd."""
    try:
        parsed = datetime.fromisoformat(at)
    except ValueError:
        return at
    return parsed.astimezone().strftime("%Y-%m-%d %H:%M")
