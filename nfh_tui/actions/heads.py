"""Acts that mark heads and what joins them."""

from nfh_tui.actions.act import ANNOTATOR, HEADS, WRITING, Action

ACTS: tuple[Action, ...] = (
    Action(
        "hint.start", ("f",), "f", "Letter hints on candidates",
        "Show letters at what may be a noun, the likeliest under the strongest fingers; they "
        "mark a head. Again f: at all words.", HEADS, ANNOTATOR, WRITING,
        foot=20, short="heads",
    ),
    Action(
        "head.toggle", ("space",), "space", "Take or drop the token",
        "Mark the token under the cursor as a head, or take the mark away.",
        HEADS, ANNOTATOR, WRITING,
    ),
    Action(
        "span.grow", ("v",), "v", "Grow a span",
        "Begin a span and move to grow it; again: move its other end.",
        HEADS, ANNOTATOR, WRITING,
    ),
    Action(
        "span.shrink", ("V",), "V", "Shrink the span",
        "Leave out the word at the end that moves; on a marked head the word farthest from "
        "its noun.", HEADS, ANNOTATOR, WRITING,
    ),
    Action(
        "mentions.all", ("asterisk",), "*", "All mentions of this noun",
        "Add the other places where this noun stands, reviewed one by one.",
        HEADS, ANNOTATOR, WRITING,
    ),
    Action(
        "head.join", ("J",), "J", "Two words for one thing",
        "Make one head of the last two: they are two words for the same.",
        HEADS, ANNOTATOR, WRITING,
    ),
    Action(
        "head.drop_last", ("backspace",), "backspace", "Drop the last head",
        "Take the head marked last away.", HEADS, ANNOTATOR, WRITING,
    ),
    Action(
        "relation.and", ("ampersand",), "&", "All of them (AND)",
        "The number counts all of its heads together.", HEADS, ANNOTATOR, WRITING,
    ),
    Action(
        "relation.or", ("vertical_line",), "|", "One of them (OR)",
        "The number is one of its heads or the other.", HEADS, ANNOTATOR, WRITING,
    ),
)  # fmt: skip
