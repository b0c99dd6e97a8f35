"""What the signs on the screen mean: for the help and the README."""

LEGEND: tuple[tuple[str, str], ...] = (
    ("▸one◂", "the number that is asked about; others are dim, ✓ and a letter: decided so"),
    ("‹ ›", "the span that an annotator proposes for the number"),
    ("₁ ₂", "before a word: it stands for the first, second head of your answer"),
    ("×", "a mention that was taken away"),
    ("¹ ² ³", "behind a word: who marked it, by their keys; reversed: your answer has not"),
    ("◆", "before a word: the gold's head, where your answer has another"),
    ("[ ]", "a span that is growing"),
    ("▁ to █", "heat map: the score of a word; + and −: of two models, which scores it higher"),
    ("┄┄┄", "between turns, if asked for: voters saw from here, to here"),
    ("↑ ↓", "under the passage: a head of your answer stands above, below what is in view"),
    ("○ ◐ ≠", "nobody answered; answers agree; answers disagree"),
    ("✓ ↺", "decided; the number's span was corrected after people had answered"),
    ("▌ ┆", "in the queue: the item shown; where to go on from, while another one is shown"),
    ("2-1 noun", "two annotators against one, and what they differ in first"),
    ("scope, route", "what answers differ in: an NFH or none; the class or its noun"),
    ("answer?, relation", "what answers differ in: can it be answered; AND or OR"),
    ("» a m g", "you skipped it; flags: span wrong, ambiguous, guidelines silent"),
    ("= ≠ noun", "in the evidence: the same as your answer; what it differs in"),
    ("≈ mention", "in the evidence: the same noun, but no mention that your answer has"),
    ("12m◆", "in the evidence: whose it is: annotators 1 and 2, the model, the gold"),
    ("t1 +1", "in the evidence: in turn 1; one more mention"),
)
"""Each sign with its meaning, in the order in which one meets them."""
