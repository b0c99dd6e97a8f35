"""Items made by hand, for tests of the editor and of what shows it."""

from collections.abc import Callable, Mapping, Sequence

import pytest

from nfh_db.records import (
    AnchorItem,
    AnchorState,
    Draft,
    FlagMark,
    Gold,
    Prediction,
    Role,
    Sibling,
    Vote,
)
from nfh_models.domain import (
    Anchor,
    Answer,
    Kind,
    Mention,
    Passage,
    Relation,
    Token,
    Turn,
    class_answer,
    compare_all,
    reference_answer,
)
from nfh_tui.editor.commands import act, first_state, key, move_to
from nfh_tui.editor.state import EditOutcome, EditState

LEMMAS: Mapping[str, str] = {
    "tents": "tent",
    "ropes": "rope",
    "vans": "van",
    "men": "man",
    "owls": "owl",
}

TENTS = (
    ("Nora", "My tents leak and the ropes are gone , the good tents too ."),
    ("Bram", "Then borrow one from the men on the hill . They have seven ."),
    ("Nora", "A tent from them ? I would rather ask the shop for a rope ."),
)
"""Anchor "one" is token 16; tents 1, 11; ropes 5; men 19; hill 22; seven 26; tent 29; them 31;
shop 38; rope 41; the second turn starts at 14, the third at 28."""

ANCHOR = (16, 17)


def _passage(turns: Sequence[tuple[str | None, str]], glue: str = " ") -> Passage:
    """A passage of turns whose words are parted by single spaces in `turns`."""
    text = ""
    tokens: list[Token] = []
    made: list[Turn] = []
    for number, (speaker, words) in enumerate(turns):
        text += "\n" if text else ""
        first = len(tokens)
        for place, word in enumerate(words.split(" ")):
            text += glue if place else ""
            lemma = LEMMAS.get(word.casefold(), word.casefold())
            tokens.append(Token(len(text), len(text) + len(word), lemma))
            text += word
        made.append(Turn(number, speaker, first, len(tokens)))
    return Passage(text, tuple(tokens), tuple(made))


def _vote(name: str, answer: Answer, role: Role = Role.ANNOTATOR, **facts: object) -> Vote:
    return Vote(name, role, answer, "2024-05-12T10:03:07.000Z", **facts)


def _item(
    passage: Passage | None = None,
    anchor: tuple[int, int] = ANCHOR,
    *,
    votes: Sequence[Vote] = (),
    stale: Sequence[Vote] = (),
    gold: Gold | None = None,
    draft: str | None = None,
    scores: Mapping[int, float] | None = None,
    classes: Sequence[float | None] = (None,) * 6,
    choice: str | None = None,
    siblings: Sequence[tuple[int, int, AnchorState]] = (),
    flags: Sequence[FlagMark] = (),
    public_id: str = "7" * 32,
    number: int = 1,
) -> AnchorItem:
    """An item: by default the passage TENTS with the anchor "one" and nothing said of it."""
    passage = passage or _passage(TENTS)
    found = compare_all(
        [vote.answer for vote in votes if vote.role is Role.ANNOTATOR],
        [token.lemma for token in passage.tokens],
    )
    prediction = None
    if scores is not None or choice is not None:
        given = scores or {}
        tokens = [given.get(place) for place in range(len(passage.tokens))]
        best = str(max(given, key=lambda place: given[place])) if given else "OTHER"
        prediction = Prediction(
            "cues", best if choice is None else choice, None, None, (*classes, *tokens)
        )
    return AnchorItem(
        anchor_id=number,
        public_id=public_id,
        passage_id=number,
        document="camp",
        split="dev",
        passage=passage,
        anchor=Anchor(*anchor),
        state=AnchorState.OPEN,
        siblings=tuple(
            Sibling(90 + place, Anchor(start, end), state, None)
            for place, (start, end, state) in enumerate(siblings)
        ),
        votes=tuple(votes),
        stale_votes=tuple(stale),
        gold=gold,
        flags=tuple(flags),
        blocking=tuple(sorted(found.blocking)),
        notes=tuple(sorted(found.notes)),
        pattern=found.pattern,
        draft=None if draft is None else Draft(draft, "2024-05-12T10:00:00.000Z"),
        prediction=prediction,
    )


def _reference(*heads: Sequence[int] | int, relation: Relation | None = None) -> Answer:
    """A Reference of one-token mentions: an int is a head of one, a list one of several."""
    made = [[head] if isinstance(head, int) else list(head) for head in heads]
    return reference_answer(
        [[Mention(token, token + 1, token) for token in head] for head in made], relation
    )


class Make:
    """The makers above under short names."""

    passage = staticmethod(_passage)
    vote = staticmethod(_vote)
    item = staticmethod(_item)
    reference = staticmethod(_reference)
    tents = TENTS

    @staticmethod
    def three(first: Answer, second: Answer, third: Answer) -> tuple[Vote, ...]:
        """Answers of three annotators."""
        names = ("ann1", "ann2", "ann3")
        return tuple(map(_vote, names, (first, second, third)))

    @staticmethod
    def age() -> Answer:
        """AGE, without more."""
        return class_answer(Kind.AGE)


@pytest.fixture(scope="session")
def make() -> type[Make]:
    """Makers of passages, votes and items."""
    return Make


def _do(item: AnchorItem, state: EditState, *acts: str) -> EditOutcome:
    """Acts by id, keys as "key:x", moves as "to:5"; the last outcome."""
    outcome: EditOutcome | None = None
    for name in acts:
        if name.startswith("key:"):
            pressed = name.removeprefix("key:")
            character = {"space": " "}.get(pressed, pressed)
            outcome = key(state, item, pressed, character if len(character) == 1 else None)
        elif name.startswith("to:"):
            outcome = move_to(state, item, int(name.removeprefix("to:")))
        else:
            outcome = act(state, item, name)
        assert outcome is not None, name
        state = outcome.state
    assert outcome is not None
    return outcome


@pytest.fixture(scope="session")
def do() -> Callable[..., EditOutcome]:
    """Does acts, keys and moves one after the other."""
    return _do


@pytest.fixture
def item() -> AnchorItem:
    """The item of TENTS with nothing said of it."""
    return _item()


@pytest.fixture
def fresh(item: AnchorItem) -> EditState:
    """What an annotator begins with on that item."""
    return first_state(item, "me", Role.ANNOTATOR)


HOSTILE = (
    ("[red]Ann[/]", "[red] a[/b] \x1b[31mred x\ty one \u202eevil nul\x00l ."),
    (
        None,
        "👨\u200d👩\u200d👧 cafe\u0301 日本語のテキスト שלום one مرحبا 👍🏽 🇩🇪 ❤\ufe0f \ufe0f",
    ),
    ("長い名前の人です", "e" + "\u0301" * 9 + " \u0301 한국어 \u1112\u1161\u11ab " + "x" * 300),
    ("\x1b]0;title\x07", "[/] [bold ] \ud800 \u3164 \u2028 \x85 \ue000 ﷽ \u034f a\u20e3 ."),
)


@pytest.fixture(scope="session")
def hostile() -> Callable[[str], Passage]:
    """Text that controls terminals, looks like markup, or has odd widths; by its glue."""

    def made(glue: str = " ") -> Passage:
        return _passage(HOSTILE, glue)

    return made
