"""Valid files of every format, made up anew for each seed: what the fuzzer damages."""

import csv
import io
import json
import random
from collections.abc import Callable

from nfh_db.formats.gold import GoldWriter
from nfh_db.formats.nfh import HEADER, SEPARATOR
from nfh_db.formats.rows import RawPassage, joined, runs
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
    anchor_id,
)

AT = "2026-01-02T03:04:05.678Z"
NASTY = (
    "\x00", "\x1b[2J", "\t", "\n", "\r", "\r\n", "\u2028", "\x85", "[red]", "[/]", '"', "\\",
    "\\u0000", "e\u0301", "👩\u200d🔬", "小明", "שלום", "\u202e", "\ufeff", "_SEP_", "NaN", " ",
    "one", "\u200b", "𝟛", "٣", "½", "\ud83d", "'", ",", ";", "=1+1", "null", "<b>", "-", "1e9",
)  # fmt: skip
WORDS = (
    "two cups and three mugs of tea please no one saw the dogs 7 twenty years ago I have five "
    "of them Dr. Ray: 1985 was it 3.5 or 4 ? ! , ."
).split()
PRINTABLE = [text for text in NASTY if text.isprintable() and text != "\ud83d"]
NAMES = ("ann", "ben c", "zoë", "小明", "o'neill")


def words(source: random.Random) -> list[str]:
    """Some words, a few of them nasty; none empty, no lone surrogate."""
    found = source.choices(WORDS, k=source.randint(3, 14))
    if source.random() < 0.3:
        found[source.randrange(len(found))] = source.choice(
            [text for text in NASTY if "\ud83d" not in text]
        )
    return found


def _raw(source: random.Random) -> RawPassage:
    found = words(source)
    numbers = sorted(source.choices(range(6), k=len(found)))
    speakers = {number: source.choice((None, *NAMES)) for number in numbers}
    return joined(found, runs(numbers, [speakers[number] for number in numbers]))


def _span(source: random.Random, count: int) -> Anchor:
    start = source.randrange(count)
    return Anchor(start, min(count, start + source.choice((1, 1, 1, 2))))


def _free(anchor: Anchor, count: int) -> list[int]:
    return [token for token in range(count) if not anchor.start <= token < anchor.end]


def answer(source: random.Random, count: int, anchor: Anchor) -> Answer:
    """An answer that fits a passage of so many tokens."""
    free = _free(anchor, count)
    kind = source.choice([k for k in Kind if free or k is not Kind.REFERENCE])
    comment = source.choice(("", "", "why", "[red]\n\x1b"))
    if kind is not Kind.REFERENCE:
        sort = source.choice((None, *Sort)) if kind is Kind.OTHER else None
        return Answer(kind, sort=sort, noun=source.choice((None, "spoon")), comment=comment)
    heads = []
    for _ in range(source.choice((1, 1, 2))):
        tokens = source.sample(free, min(len(free), source.choice((1, 2))))
        origins = [Origin.MARKED, *source.choices(list(Origin), k=len(tokens) - 1)]
        pairs = zip(tokens, origins, strict=True)
        heads.append(Head(tuple(Mention(t, t + 1, t, origin) for t, origin in pairs)))
    relation = source.choice(list(Relation)) if len(heads) > 1 else None
    return Answer(kind, tuple(heads), relation, comment=comment)


def nfh(source: random.Random) -> str:
    """A file of the release's resolution format."""
    lines = []
    for _ in range(source.randint(1, 4)):
        found = words(source)
        anchor = _span(source, len(found))
        free = _free(anchor, len(found))
        head: list[object] = [source.choice(("YEAR", "AGE", "OTHER"))]
        if free and source.random() < 0.6:
            head = [*sorted(source.sample(free, min(len(free), 2)))]
        row = {
            "tokens": found,
            "line_indices": sorted(source.choices(range(9), k=len(found))),
            "head": head,
            "speakers": [source.choice((*NAMES, None, float("nan"))) for _ in found],
            "anchors_indices": list(range(anchor.start, anchor.end)),
        }
        lines.append(json.dumps(row, ensure_ascii=source.random() < 0.5))
    return "\n".join(lines) + "\n"


def ident(source: random.Random) -> str:
    """A file of the release's identification format."""
    lines = [HEADER]
    for _ in range(source.randint(1, 5)):
        found = source.choices(WORDS, k=source.randint(3, 14))
        anchor = _span(source, len(found))
        label = source.choice("01")
        lines.append(f"{SEPARATOR.join(found)}\t{anchor.start}\t{anchor.end}\t{label}")
    return "\n".join(lines) + "\n"


def dialog(source: random.Random) -> str:
    """Plain text with speakers."""
    blocks = []
    for _ in range(source.randint(1, 4)):
        lines = []
        for _ in range(source.randint(1, 4)):
            said = " ".join(words(source)).replace("\n", " ").replace("\0", "")
            lines.append(source.choice(("", "Ann: ", "Dr. Ray: ", "小明: ")) + said)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def record(source: random.Random) -> ExportRecord:
    """All that may be said of one anchor."""
    raw = _raw(source)
    count = len(raw.words)
    tokens = tuple(Token(a, b, "") for a, b in zip(raw.starts, raw.ends, strict=True))
    passage = Passage(raw.text, tokens, raw.turns)
    anchor = _span(source, count)
    gold = None
    if source.random() < 0.6:
        given, by = answer(source, count, anchor), source.choice(NAMES)
        gold = Gold(given, Rule.EXPERT, by, AT)
        if source.random() < 0.4:
            gold = Gold(given, Rule.IMPORTED)
    names = source.sample(NAMES, source.randint(0, 3))
    votes = [
        Vote(name, role, answer(source, count, anchor), AT, source.choice((None, 0, 1.5)))
        for name in names
        for role in source.choice(((Role.ANNOTATOR,), tuple(Role)))
    ]
    flags = [FlagMark(source.choice(list(FlagName)), name, AT) for name in names[:1]]
    split = source.choice((None, "dev", "mine"))
    public_id = anchor_id(passage.digest, anchor)
    return ExportRecord(public_id, passage, anchor, split, gold, tuple(votes), tuple(flags))


def gold(source: random.Random) -> str:
    """A file of the workbench's own format."""
    writer = GoldWriter()
    return "".join(writer.line(record(source)) for _ in range(source.randint(1, 4)))


BATCH = (
    "HITId", "AssignmentStatus", "SubmitTime", "WorkTimeInSeconds", "WorkerId", "Input.task_id",
    "Input.text_reduced", "Input.text_reduced_html", "Input.target", "Input.target_start_index",
    "Input.target_end_index", "Input.target_sentence", "Answer.ans", "Answer.comment",
    "Answer.offset", "Answer.other", "Answer.reference",
)  # fmt: skip


def amt(source: random.Random) -> str:
    """The results of a crowd's batch: a few tasks, each answered by up to three workers."""
    rows = [list(BATCH)]
    for task in range(source.randint(1, 3)):
        lines = [" ".join(source.choices(WORDS, k=source.randint(3, 9))) for _ in range(3)]
        place = source.randrange(3)
        lines[place] = f"I have seven {lines[place]}"
        if source.random() < 0.3:
            lines[0] += f" {source.choice(PRINTABLE)}"
        shown = [f"Ann: {lines[0]}", *lines[1:]] if source.random() < 0.5 else lines
        plain = source.choice(("\n", "<br>", "<br />")).join(shown)
        page = plain.replace("seven", "<b>seven</b>").replace("\n", "<br>")
        start = len(lines[place].partition("seven")[0])
        fixed = [plain, page if source.random() < 0.5 else "", "seven", str(start)]
        for worker in source.sample(("A1", "B2", "C3"), source.randint(1, 3)):
            code = source.choice("12345678")
            marked = source.choice(lines[0].split()) if code == "1" else ""
            at = lines[0].find(marked) if marked else 0
            offset = f"{at};{at + len(marked)}" if marked else ""
            noun = "spoon" if code == "5" else ""
            rows.append(
                ["H1", source.choice(("Approved", "Submitted", "Rejected", "")),
                 "Tue Jan 30 12:01:01 PST 2018", "12", worker, str(task), *fixed,
                 str(start + 5), lines[place], code, source.choice(("", "hm, “so”")), offset,
                 noun, marked]
            )  # fmt: skip
    return table(rows)


SEEDS: dict[str, Callable[[random.Random], str]] = {
    "nfh": nfh,
    "nfh-ident": ident,
    "dialog": dialog,
    "gold": gold,
    "amt": amt,
}


def table(rows: list[list[str]]) -> str:
    """Rows as comma-separated values."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
