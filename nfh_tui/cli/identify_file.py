"""`nfh-tui identify --file`: the numbers of a text, without a database."""

import json
import re
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from nfh_db.formats.wording import counted, visible
from nfh_tui import places
from nfh_tui.cli.common import emit, open_to_read, say, tell
from nfh_tui.cli.identify import tools_of
from nfh_tui.cli.overwriting import check_out
from nfh_tui.cli.steps import Steps

if TYPE_CHECKING:
    from nfh_models.identification.case import Identifier
    from nfh_tui.choosing_models import Chosen
    from nfh_tui.identifying import Tools
    from nfh_tui.identifying_text import FoundNumber

WHITE_SPACE = re.compile(r"\s+")
ESCAPED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}
"""In lines of JSON: what ends a line for many programs, and what terminals obey."""

RULE_WIDTH = 20
LEAST_WIDTH = 40
NAME_SHOWN = 200


@dataclass(slots=True)
class Counts:
    """What was found so far; rules: by rule, yes and no."""

    numbers: int = 0
    yes: int = 0
    rules: dict[str, list[int]] = field(default_factory=dict)

    def add(self, found: "FoundNumber") -> None:
        """Count one."""
        self.numbers += 1
        self.yes += found.decision.nfh
        self.rules.setdefault(found.decision.rule, [0, 0])[0 if found.decision.nfh else 1] += 1


def identify_file(
    place: str,
    out: Path | None,
    model: str | None,
    spec: str | None,
    db: Path | None,
    *,
    per_line: bool,
    as_json: bool,
) -> None:
    """Decide the numbers of a file, or of standard input, and write what was found."""
    from nfh_tui.identifying_text import check_running, numbers_in_text, read_text

    began = time.perf_counter()
    if out is not None:
        check_out(out, [Path(place)], places.database(db))
    name, text = read_text(place)
    check_running(place)
    tools = tools_of(_chosen(model, db), spec)
    counts = Counts()
    listed: list[dict[str, object]] = []
    # What is printed line by line shows itself how far it is.
    shown = out is None and not as_json and _watched()
    with ExitStack() as stack:
        steps = stack.enter_context(Steps("identify"))
        write = _writer(stack, out, listed, as_json=as_json)
        for found in numbers_in_text(text, tools, per_line=per_line):
            counts.add(found)
            write(found)
            if not shown:
                steps.step("characters read:", found.end, len(text))
    if as_json:
        report = _report(name, text, tools, counts, out)
        seconds = {"seconds": round(time.perf_counter() - began, 3)}
        emit(report | seconds | ({"found": listed} if out is None else {}))
    else:
        _say_how_many(name, counts, out)


def _chosen(model: str | None, db: Path | None) -> "Chosen[Identifier]":
    """The model; names and numbers of models are looked up in a database that is named."""
    from nfh_tui.choosing_models import identifier_for

    if db is None:
        return identifier_for(None, model)

    with open_to_read(db) as store:
        return identifier_for(store, model, register=False)


def _writer(
    stack: ExitStack, out: Path | None, listed: list[dict[str, object]], *, as_json: bool
) -> "Callable[[FoundNumber], object]":
    """What is done with each number: lines of JSON, a line for a person, or the list."""
    if out is not None:
        from nfh_db.formats.writing import replacing

        return _lines_to(stack.enter_context(replacing(out)))
    if as_json:
        return lambda found: listed.append(number_json(found))
    if _watched():
        width = max(LEAST_WIDTH, shutil.get_terminal_size().columns)
        return lambda found: tell(number_line(found, width))
    from nfh_tui.transfer import standard_output

    file = standard_output()
    stack.callback(file.flush)
    return _lines_to(file)


def _watched() -> bool:
    """True if a person watches standard output."""
    return sys.stdout is not None and sys.stdout.isatty()


def _lines_to(file: BinaryIO) -> "Callable[[FoundNumber], object]":
    def write(found: "FoundNumber") -> None:
        line = json.dumps(number_json(found), ensure_ascii=False).translate(ESCAPED)
        file.write(line.encode("utf-8") + b"\n")

    return write


def number_json(found: "FoundNumber") -> dict[str, object]:
    """A number as a line of JSON has it."""
    decision = found.decision
    values: dict[str, object] = {
        "start": found.start,
        "end": found.end,
        "text": found.text,
        "nfh": decision.nfh,
        "rule": decision.rule,
        "score": decision.score,
        "sentence": found.sentence,
    }
    if decision.weights:
        values["weights"] = [list(pair) for pair in decision.weights]
    return values


def number_line(found: "FoundNumber", width: int) -> str:
    """A number for a person, on one line: yes or no, the rule, the sentence around it."""
    decision = found.decision
    said = "NFH" if decision.nfh else "no "
    why = decision.rule if decision.score is None else f"{decision.rule} {decision.score:+.2f}"
    head = f"{said}  {visible(why, RULE_WIDTH):<{RULE_WIDTH}}  "
    room = width - len(head)
    number = visible(f"[{_one_line(found.text)}]", room)
    side = max(0, room - len(number) - 2)
    after = visible(_one_line(found.after), side // 2)
    before = visible(_one_line(found.before)[::-1], max(0, side - len(after)))[::-1]
    return f"{head}{before}{number}{after}"


def _one_line(text: str) -> str:
    return WHITE_SPACE.sub(" ", text)


def _say_how_many(name: str, counts: Counts, out: Path | None) -> None:
    """Where lines went to standard output of a program, nothing is said."""
    told = (
        f"{name}: {counted(counts.numbers, 'number')}, {counts.yes:,} without a noun (NFH), "
        f"{counts.numbers - counts.yes:,} with"
    )
    if out is not None:
        tell(f"{told}; {visible(str(out), NAME_SHOWN)}: a line for each")
    elif _watched():
        say(told)


def _report(
    name: str, text: str, tools: "Tools", counts: Counts, out: Path | None
) -> dict[str, object]:
    chosen = tools.chosen
    rules = {rule: {"yes": yes, "no": no} for rule, (yes, no) in sorted(counts.rules.items())}
    return {
        "file": name,
        "out": None if out is None else str(out),
        "model": chosen.name,
        "recipe": chosen.model.recipe,
        "version": chosen.model.version,
        "parser": tools.parser_name or None,
        "characters": len(text),
        "numbers": counts.numbers,
        "nfh": {"yes": counts.yes, "no": counts.numbers - counts.yes},
        "rules": rules,
    }
