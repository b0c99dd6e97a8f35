"""What a reader of Label Studio's files counts on its way, and how it is told at the end."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from nfh_db.formats.wording import counted, visible

SAID = (
    ("raw", "text", "without a number marked: its numbers were found by rule"),
    ("silent", "annotation", "without a number marked, of texts in which others mark some"),
    ("words", "annotation", "with a noun or a comment, but no number: that was left out"),
    ("drafts", "draft", "left out: nobody submitted them"),
    ("skips without a number", "task", "passed over in which no number is marked: no flag set"),
    ("passed", "number", "marked in what was cancelled: no answer, and not kept"),
    ("unfit skips", "task", "passed over whose marks contradict each other: left out"),
    ("skips of nobody", "task", "passed over by nobody who is named: no flag set"),
    ("predictions by number", "prediction", "of which the file has the number only: left out"),
    ("votes twice", "answer", "given twice by one person: the later one counts"),
    ("truths that differ", "number", "with ground truths that differ: none of them is gold"),
    ("withdrawn", "answer", "that the task was exported with and no longer has: left out"),
    ("unsaid", "number", "of which nothing but a noun or comment is said: left out"),
    ("cut", "token", "cut in two, since a region begins or ends inside it"),
    ("blurred", "region", "whose text the file has with other white space"),
    (
        "unsure",
        "region",
        "that does not say what stands there, of a text with characters that count two to "
        "some: read by code points; exports before October 2021 want --offsets utf16",
    ),
    ("again", "task", "that stood in the file before"),
)


@dataclass(slots=True)
class Tally:
    """counts: by the keys of SAID. left: results that are nothing here, by their type."""

    counts: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)

    def sentences(self) -> Iterator[str]:
        """One for each thing that came up."""
        for key, thing, what in SAID:
            if self.counts[key]:
                yield f"{counted(self.counts[key], thing)} {what}"
        for type_, count in sorted(self.left.items()):
            if count:
                what = f"left out that say nothing here: {visible(type_)}"
                yield f"{counted(count, 'result')} {what}"
