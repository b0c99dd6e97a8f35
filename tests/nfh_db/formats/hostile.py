"""A corpus in which stands all that formats stumble over; each passage says what it is for."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from nfh_db.formats.gold import GoldWriter
from nfh_db.records import ExportRecord, FlagMark, FlagName, Gold, Role, Rule, Vote
from nfh_models.domain import (
    Anchor,
    Answer,
    Head,
    Kind,
    Mention,
    Origin,
    Passage,
    Relation,
    Sort,
    Token,
    Turn,
    anchor_id,
)

AT = "2025-01-31T12:00:00.000Z"
LATER = "2025-02-28T23:59:59.999Z"
LAST = "2026-01-01T00:00:00.001Z"
WORDS = re.compile(r"1 000|\w+|[^\w\s]")

PEOPLE = ("ann", "gold", "Eva Ö.")
"""Those who annotate; one is called as folders of gold are."""
ADJUDICATOR = "a/b: ..\\c"
MODEL = "Ünder-model 1.0"
COMMENT = 'first line\nsecond\t"quoted" \\n | = ; <b>&amp;</b>\r\n 😀 end '


def passage(
    lines: Sequence[tuple[str | None, str]],
    end: str = "\n",
    words: re.Pattern[str] = WORDS,
    numbers: Sequence[int] | None = None,
    named: bool = True,
    times: bool = False,
) -> Passage:
    """A passage of lines. named: "Ann: " stands before what Ann says."""
    text, tokens, turns = "", list[Token](), list[Turn]()
    for rank, (speaker, said) in enumerate(lines):
        text += (end if rank else "") + (f"{speaker}: " if named and speaker else "")
        first = len(tokens)
        tokens += [
            Token(len(text) + match.start(), len(text) + match.end(), "")
            for match in words.finditer(said)
        ]
        text += said
        if len(tokens) > first:
            number = numbers[rank] if numbers else rank
            clock = (1000 * rank, 1000 * rank + 999) if times else (None, None)
            turns.append(Turn(number, speaker, first, len(tokens), *clock))
    return Passage(text, tuple(tokens), tuple(turns))


def at(given: Passage, *words: str) -> tuple[int, int]:
    """The tokens of the first place where these words follow each other."""
    all_words = [given.word(place) for place in range(len(given.tokens))]
    for first in range(len(all_words)):
        if all_words[first : first + len(words)] == list(words):
            return first, first + len(words)
    raise LookupError(words)


def record(
    given: Passage,
    span: tuple[int, int],
    gold: Gold | None = None,
    votes: Sequence[Vote] = (),
    flags: Sequence[FlagMark] = (),
    split: str | None = None,
) -> ExportRecord:
    """A record of the passage's tokens `span`."""
    anchor = Anchor(*span)
    public_id = anchor_id(given.digest, anchor)
    return ExportRecord(public_id, given, anchor, split, gold, tuple(votes), tuple(flags))


def one(*places: int, origin: Origin = Origin.MARKED) -> Mention:
    """A mention: start, end and head; the last token is the head where none is given."""
    start, end, *head = places
    return Mention(start, end, head[0] if head else end - 1, origin)


def refer(
    *heads: tuple[Mention, ...], relation: Relation | None = None, comment: str = ""
) -> Answer:
    """A Reference to heads of these mentions."""
    built = tuple(Head(mentions) for mentions in heads)
    return Answer(Kind.REFERENCE, built, relation, comment=comment)


def vote(name: str, answer: Answer, when: str = AT, **more: object) -> Vote:
    """An annotator's vote."""
    return Vote(name, Role.ANNOTATOR, answer, when, **more)  # type: ignore[arg-type]


def settled(answer: Answer, votes: Sequence[Vote], rule: Rule) -> Gold:
    """A gold that a rule made of votes."""
    made_of = tuple(sorted((one.annotator, one.answered_at) for one in votes))
    return Gold(answer, rule, None, LATER, made_of)


# --- the passages ---------------------------------------------------------------------------


def everything() -> Iterator[ExportRecord]:
    """Characters beyond U+FFFF before and after marks; all that can be said of a number."""
    given = passage(
        [
            ("Ann", "😀 Two cups of tea, né? 𝒳𝒴"),
            ("Ben", "One 👩‍👩‍👧 or three… cups!\t👍"),
            (None, "twenty-two"),
        ],
        times=True,
    )
    cups, tea, later = at(given, "cups"), at(given, "tea"), at(given, "cups", "!")
    two, three = at(given, "Two"), at(given, "three")
    both = refer(
        (one(cups[0], tea[1], cups[0]), one(later[0], later[0] + 1, origin=Origin.ADDED)),
        (one(*tea), one(*at(given, "né"), origin=Origin.REMOVED)),
        relation=Relation.AND,
        comment=COMMENT,
    )
    either = refer((one(*cups),), (one(*tea),), (one(*at(given, "𝒳𝒴")),), relation=Relation.OR)
    votes = [
        vote("ann", both, seconds=12.25, guideline_version=3, rule_tag="rule-1"),
        vote("gold", either, LATER, seconds=0.0, saw_model=True, saw_votes=True, in_sheet=True),
        vote("Eva Ö.", Answer(Kind.OTHER, sort=Sort.NOUN, noun='spoon "é"|;=\t𝒳'), LAST),
        Vote(ADJUDICATOR, Role.ADJUDICATOR, both, LAST, 3.5, False, True, 4, "r/2"),
        Vote("Eva Ö.", Role.ADJUDICATOR, either, LAST),
        vote(MODEL, refer((one(*cups),)), type="model"),
        vote("by-rule", Answer(Kind.NFH), type="rule"),
    ]
    flags = [FlagMark(name, PEOPLE[rank % 3], LATER) for rank, name in enumerate(FlagName)] + [
        FlagMark(FlagName.SKIP, "only flags", AT)
    ]
    gold = Gold(both, Rule.EXPERT, ADJUDICATOR, LAST)
    yield record(given, three, gold, votes, flags, "train")
    yield record(given, two, Gold(Answer(Kind.AGE), Rule.IMPORTED), split="dev")
    yield record(given, at(given, "One"))
    # Two numbers that share tokens, one of which begins where the other does.
    long, short = at(given, "twenty", "-", "two"), at(given, "twenty")
    yield record(given, long, None, [vote("ann", Answer(Kind.YEAR, noun="year"))])
    yield record(given, short, None, [], [FlagMark(FlagName.REJECT, "ann", AT)])


def unions() -> Iterator[ExportRecord]:
    """Heads that overlap, enclose the number, or share tokens; nobody says how they join."""
    given = passage([("Ann", "all the two hours' rest and hours of sleep"), ("Ben", "three")])
    hours, rest = at(given, "hours"), at(given, "rest")
    around = one(0, rest[1], rest[0])
    yield record(
        given,
        at(given, "two"),
        Gold(refer((around, one(*hours))), Rule.IMPORTED, None, AT),
        [vote("ann", refer((around,), (one(*hours), around), relation=Relation.UNSTATED))],
    )
    same_span = refer(
        (one(*hours), one(hours[0], rest[1], hours[0])),
        (one(hours[0], rest[1], rest[0]),),
        relation=Relation.OR,
    )
    votes = [vote(name, same_span, seconds=1.5) for name in PEOPLE]
    yield record(
        given,
        at(given, "three"),
        settled(same_span, votes, Rule.UNANIMOUS),
        votes,
        split="test",
    )


def line_ends() -> Iterator[ExportRecord]:
    """CRLF, tabs, empty lines, lines of nothing but a speaker; numbers with gaps."""
    given = passage(
        [
            ("Ann", "Two\ttickets,  please. "),
            (None, ""),
            ("Ben", ""),
            ("Ben", "No:\tthree "),
            (None, "   "),
            ("", "four\x0bor\x0c five"),
        ],
        end="\r\n",
        numbers=[0, 1, 3, 4, 4, 9],
    )
    tickets = refer((one(*at(given, "tickets")),), comment=" ")
    votes = [vote(name, tickets, AT) for name in PEOPLE[:2]]
    votes.append(vote(PEOPLE[2], Answer(Kind.NOT_NFH, comment="\n"), LATER))
    yield record(given, at(given, "three"), settled(tickets, votes, Rule.MAJORITY), votes)
    yield record(given, at(given, "four"), Gold(Answer(Kind.BROKEN), Rule.IMPORTED))
    yield record(given, at(given, "five"), None, [vote("ann", Answer(Kind.UNKNOWN))])


def marks() -> Iterator[ExportRecord]:
    """Combining marks, also as tokens of their own; words not in NFC; both directions."""
    given = passage(
        [
            (
                "É",
                "cafe\u0301s u\u0308ber A\u030aland \u05e9\u05b0\u05dc\u05d5\u05b9 \u0663",
            ),
            ("E\u0301", "\u1112\u1161\u11ab 한 ﬁ \u212b two\u0301"),
        ],
        words=re.compile(r"[^\W\u0301]+|\u0301|[^\w\s]"),
    )
    first = at(given, "한")
    answer = refer((one(0, 3, 1), one(*first, origin=Origin.ADDED)))
    yield record(given, at(given, "\u0663"), Gold(answer, Rule.IMPORTED), [vote("ann", answer)])
    yield record(given, at(given, "two"), Gold(Answer(Kind.CURRENCY), Rule.IMPORTED))


def markup() -> Iterator[ExportRecord]:
    """Text that looks like markup, or like what the formats themselves write."""
    given = passage(
        [
            ("Ann", '<b>one</b> &amp; {"a": [two]} *E* T1\tHEAD 0 3'),
            ("# text", "# newdoc id = x\u2028_ _ _ \u0085three __ --> 00:01 +++$+++ ok"),
            (None, "1 000 apples \x1b[31m \ufeff end\\"),
            (None, "NFH=AGE|NFHHead=1 -DOCSTART- 1\t2\t_"),
        ],
        numbers=[0, 2, 2, 7],
    )
    apples = refer((one(*at(given, "apples")),))
    yield record(given, at(given, "one"), Gold(Answer(Kind.TIME), Rule.IMPORTED))
    yield record(given, at(given, "1 000"), Gold(apples, Rule.IMPORTED), [vote("gold", apples)])
    yield record(given, at(given, "three"), Gold(Answer(Kind.PEOPLE), Rule.IMPORTED))


def one_text() -> Iterator[ExportRecord]:
    """One text as three passages: with other tokens, and with other turns."""
    lines: list[tuple[str | None, str]] = [(None, "I had twenty-two."), (None, "Two left.")]
    other = passage(lines, words=re.compile(r"[\w-]+|[^\w\s]"))
    one_turn = Passage(other.text, other.tokens, (Turn(0, None, 0, len(other.tokens)),))
    for rank, given in enumerate((passage(lines), other, one_turn)):
        answer = Answer(Kind.OTHER, sort=tuple(Sort)[rank])
        yield record(given, at(given, "Two"), Gold(answer, Rule.IMPORTED), split="train")


def smallest() -> Iterator[ExportRecord]:
    """A text that is a number and nothing else."""
    given = Passage("7", (Token(0, 1, ""),), (Turn(3, None, 0, 1),))
    yield record(given, (0, 1), Gold(Answer(Kind.NFH, noun="day"), Rule.IMPORTED))


def plain() -> Iterator[ExportRecord]:
    """More passages than ten, whose numbers are out of order where they are sorted as text."""
    for rank in range(8):
        given = passage([("Ann", f"It is {9 - rank} past"), ("Ben", "one more hour")])
        hour = refer((one(*at(given, "hour")),))
        votes = [vote(name, hour, seconds=rank / 10) for name in PEOPLE]
        gold = settled(hour, votes, Rule.UNANIMOUS) if rank % 2 else None
        yield record(given, at(given, str(9 - rank)), gold, votes)


PASSAGES: tuple[Callable[[], Iterator[ExportRecord]], ...] = (
    everything,
    unions,
    line_ends,
    marks,
    markup,
    one_text,
    smallest,
    plain,
)


@cache
def hostile_records() -> Sequence[ExportRecord]:
    """All of it, by passage and span."""
    found = list[ExportRecord]()
    for make in PASSAGES:
        records = list(make())
        order = {r.passage.digest: rank for rank, r in reversed(list(enumerate(records)))}
        found += sorted(
            records,
            key=lambda r: (order[r.passage.digest], r.anchor.start, r.anchor.end),
        )
    return tuple(found)


def hostile_corpus(path: Path, records: Sequence[ExportRecord] | None = None) -> Path:
    """A `gold` file of it at `path`."""
    writer = GoldWriter()
    lines = [writer.line(record) for record in records or hostile_records()]
    path.write_bytes("".join(lines).encode("utf-8"))
    return path
