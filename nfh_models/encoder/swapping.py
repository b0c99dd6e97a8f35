"""A number word swapped for another, so that a noun is not learnt from the number alone."""

from dataclasses import replace

from nfh_models.encoder.lessons import Lesson
from nfh_models.encoder.rows import Featuriser

WORDS = "two three four five six seven eight nine ten".split()
"""Any of them may stand for another before a noun in the plural; "one" may not."""


def swapped(lesson: Lesson, featuriser: Featuriser, draw: int) -> Lesson:
    """A Reference to a word in the passage whose number is one of WORDS, with another of
    them; other lessons as they are. draw: which one, any whole number from 0 on."""
    window = lesson.window
    word = window.words[window.start]
    alone = window.end - window.start == 1
    if not lesson.reference or not alone or word.lower() not in WORDS:
        return lesson
    others = [one for one in WORDS if one != word.lower()]
    other = others[draw % len(others)]
    if word[0].isupper():
        other = other.capitalize()
    words = [*window.words[: window.start], other, *window.words[window.start + 1 :]]
    changed = replace(window, words=words)
    row = featuriser.of_window(changed)
    if (row.offset, row.words) != (lesson.row.offset, lesson.row.words):
        return lesson  # more pieces than fit: the places of the heads would be others
    return replace(lesson, row=row, window=changed)
