"""What the signs on the screen mean: for the help and the README."""

LEGEND: tuple[tuple[str, str], ...] = (
    ("▸one◂", "the number that is asked about; other numbers are dimmer, ✓ the decided ones"),
    ("₁ ₂", "before a word: it stands for the first, second head of your answer"),
    ("×", "a mention that was taken away"),
    ("¹ ² ³", "behind a word: the annotator with that key marked it, and your answer does not"),
    ("◆", "the gold's head, where your answer has another"),
    ("[ ]", "a span that is growing"),
    ("▁ to █", "the model's score of a word, with the heat map on"),
    ("○ ◐ ≠", "nobody answered; answers agree; answers disagree"),
    ("✓ ↺", "decided; the number's span was corrected after people had answered"),
    ("2-1 noun", "two annotators against one, and what they differ in first"),
    ("» a m g", "you skipped it; flags: span wrong, ambiguous, guidelines silent"),
    ("=", "in the evidence: the same as your answer"),
    ("t1", "in the evidence: in turn 1"),
)
"""Each sign with its meaning, in the order in which one meets them."""
