"""What a soaking worker does: acts of a few people, each with what it is to change.

An act says, before it is done, what every value that it changes is to become. So what was
reported as done can be looked for in the database without asking the program that did it.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nfh_db.records import FlagName, IncomingAnchor, IncomingPassage, Role, Rule
from nfh_db.store import Store
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
    class_answer,
)
from soak.state import Key, State, Value, answer_said, gold_said, spelled

AT = "2026-01-02T03:04:05.678Z"
WORDS = "the dogs saw one or two cats near three sheds ."
PREFIX = 2
"""Tokens before WORDS: the passage's own number, and a colon."""

VOTED = 3
"""The token, from the first of WORDS on, whose anchors only files bring answers for."""

Step = tuple[Key, Value | None, Value | None]
"""A value that an act changes, from and to; None is absent."""

Place = tuple[str, int, int]


@dataclass(frozen=True)
class Act:
    """One act. stack: "do", "undo" or "redo" where it is one of a person's, else "".

    changes: every value that is another afterwards. steps: those that undo takes back.
    """

    what: str
    who: str
    stack: str
    changes: Sequence[tuple[Key, Value | None]]
    steps: Sequence[Step]
    do: Callable[[Store], object]

    def plain(self) -> dict[str, object]:
        """What a worker reports of it."""
        return {
            "what": self.what,
            "who": self.who,
            "stack": self.stack,
            "changes": list(self.changes),
            "steps": list(self.steps),
        }


@dataclass
class Model:
    """What the database is to hold: the state, and each person's acts done and undone."""

    state: State = field(default_factory=dict)
    done: dict[str, list[Sequence[Step]]] = field(default_factory=dict)
    undone: dict[str, list[Sequence[Step]]] = field(default_factory=dict)
    changed: dict[Key, int] = field(default_factory=dict)
    """The number of the act that changed a value last."""
    applied: int = 0
    count: int = 0

    def stack(self, what: str, who: str) -> list[Sequence[Step]]:
        """What somebody can undo, or redo, the next one last."""
        return (self.done if what == "undo" else self.undone).get(who, [])

    def is_answered_since(self, anchor: Key) -> bool:
        """Whether an anchor was answered after it came or came back: then it has to stay."""
        since = self.changed.get(anchor, 0)
        return any(
            key[0] in ("answer", "gold")
            and key[1:4] == anchor[1:4]
            and self.changed.get(key, 0) > since
            for key in self.state
        )

    def after(self, act: Mapping[str, object]) -> State:
        """The state that an act, as it was reported, leaves."""
        state = dict(self.state)
        for key, value in _pairs(act["changes"]):
            if value is None:
                state.pop(key, None)
            else:
                state[key] = value
        return state

    def apply(self, act: Mapping[str, object]) -> None:
        """Let an act have happened."""
        before, self.state = self.state, self.after(act)
        self.applied += 1
        for key, value in _pairs(act["changes"]):
            if before.get(key) != value:
                self.changed[key] = self.applied
        who, steps = str(act["who"]), _steps(act["steps"])
        done, undone = self.done.setdefault(who, []), self.undone.setdefault(who, [])
        if act["stack"] == "do":
            done.append(steps)
            undone.clear()
        elif act["stack"] == "undo":
            undone.append(done.pop())
        elif act["stack"] == "redo":
            done.append(undone.pop())


def _pairs(changes: object) -> Iterator[tuple[Key, Value | None]]:
    assert isinstance(changes, list)
    for key, value in changes:
        yield tuple(key), value


def _steps(steps: object) -> Sequence[Step]:
    assert isinstance(steps, list)
    return [(tuple(key), before, after) for key, before, after in steps]


class Choosing:
    """What there is to act on, and the acts of one person.

    own: a prefix of the texts that are this worker's alone. people: names of its own.
    """

    def __init__(self, source: random.Random, own: str, model: Model, database: Path) -> None:
        self.source = source
        self.own = own
        self.model = model
        self.database = database
        self.people = (f"{own}-ann", f"{own}-ben")
        self.boss = f"{own}-boss"
        self.voters = [f"{own}-v{rank}" for rank in range(3)]
        self.ids: dict[Place, int] = {}

    # --- what there is --------------------------------------------------------------------

    def live(self) -> list[Place]:
        """The anchors that are there to be answered."""
        return [
            (str(key[1]), int(key[2]), int(key[3]))
            for key, value in self.model.state.items()
            if key[0] == "anchor" and value == "live"
        ]

    @staticmethod
    def is_voted(place: Place) -> bool:
        """True for an anchor that files bring with three votes, or none, to be settled."""
        return place[1] == VOTED + PREFIX

    def answer_of(self, place: Place, but: Kind = Kind.REFERENCE) -> Answer:
        """An answer nobody has given before. but: a kind that it is not to be of."""
        source = self.source
        comment = f"no. {self.model.count}" + " more" * source.choice((0, 0, 0, 40))
        free = [t for t in range(PREFIX + len(WORDS.split())) if not place[1] <= t < place[2]]
        if source.random() < 0.5:
            kinds = [k for k in Kind if k not in (Kind.REFERENCE, but)]
            kind = source.choice(kinds)
            sort = source.choice((None, *Sort)) if kind is Kind.OTHER else None
            return class_answer(kind, sort, source.choice((None, "sheep")), comment)
        heads = []
        for _ in range(source.choice((1, 1, 2, 3))):
            tokens = source.sample(free, source.choice((1, 2, 3)))
            origins = [Origin.MARKED, *source.choices(list(Origin), k=len(tokens) - 1)]
            heads.append(
                Head(
                    tuple(Mention(t, t + 1, t, o) for t, o in zip(tokens, origins, strict=True))
                )
            )
        relation = source.choice(list(Relation)) if len(heads) > 1 else None
        return Answer(Kind.REFERENCE, tuple(heads), relation, comment=comment)

    def _change(self, key: Key, after: Value | None) -> Step:
        return key, self.model.state.get(key), after

    def act(
        self,
        what: str,
        who: str,
        steps: Sequence[Step],
        do: Callable[[Store], object],
        more: Sequence[tuple[Key, Value | None]] = (),
        stack: str = "do",
    ) -> Act:
        changes = [(key, after) for key, _, after in steps]
        return Act(what, who, stack, [*changes, *more], steps, do)

    # --- one person's acts ----------------------------------------------------------------

    def _commit(self, places: Sequence[Place], role: Role) -> Act:
        place, who = self.source.choice(places), self.source.choice(self.people)
        if self.is_voted(place):
            role = Role.ADJUDICATOR
        answer = self.answer_of(place)
        steps = [self._change(("answer", *place, who, role.value), answer_said(answer))]
        if role is Role.ADJUDICATOR:
            said = gold_said(answer, Rule.EXPERT, who)
            steps.append(self._change(("gold", *place), said))
        skip: Key = ("flag", *place, who, FlagName.SKIP.value)
        if skip in self.model.state:
            steps.append(self._change(skip, None))
        draft: Key = ("draft", *place, who, role.value)
        anchor = self.ids[place]

        def do(store: Store) -> object:
            return store.edits.commit_answer(anchor, store.people.ensure(who), role, answer)

        return self.act(f"{role} answer", who, steps, do, [(draft, None)])

    def answer(self, places: Sequence[Place]) -> Act:
        return self._commit(places, Role.ANNOTATOR)

    def decide(self, places: Sequence[Place]) -> Act:
        return self._commit(places, Role.ADJUDICATOR)

    def withdraw(self, places: Sequence[Place]) -> Act | None:
        live = set(places)
        given = [
            key
            for key in self.model.state
            if key[0] == "answer" and key[4] in self.people and key[1:4] in live
        ]
        if not given:
            return None
        key = self.source.choice(given)
        place, who, role = (
            (str(key[1]), int(key[2]), int(key[3])),
            str(key[4]),
            Role(str(key[5])),
        )
        steps = [self._change(key, None)]
        gold = self.model.state.get(("gold", *place))
        if role is Role.ADJUDICATOR and gold is not None and gold == self._own_gold(key, who):
            steps.append(self._change(("gold", *place), None))
        anchor = self.ids[place]

        def do(store: Store) -> object:
            return store.edits.withdraw(anchor, store.people.ensure(who), role)

        return self.act("withdraw", who, steps, do)

    def _own_gold(self, key: Key, who: str) -> Value:
        return spelled(self.model.state[key], Rule.EXPERT, who, [])

    def flag(self, places: Sequence[Place]) -> Act:
        place, who = self.source.choice(places), self.source.choice(self.people)
        name = self.source.choice(list(FlagName))
        key: Key = ("flag", *place, who, name.value)
        on = key not in self.model.state
        anchor = self.ids[place]

        def do(store: Store) -> object:
            return store.edits.set_flag(anchor, store.people.ensure(who), name, on)

        return self.act("flag", who, [self._change(key, "set" if on else None)], do)

    def draft(self, places: Sequence[Place]) -> Act:
        place, who = self.source.choice(places), self.source.choice(self.people)
        role, body = self.source.choice(list(Role)), f'{{"begun": {self.model.count}}}'
        key: Key = ("draft", *place, who, role.value)
        anchor = self.ids[place]

        def do(store: Store) -> object:
            store.workspace.save_draft(anchor, store.people.ensure(who), role, body)
            return body

        return self.act("draft", who, [], do, [(key, body)], stack="")

    def span(self, places: Sequence[Place]) -> Act | None:
        (text, start, stop), who = self.source.choice(places), self.source.choice(self.people)
        new: Place = (text, start, stop + 1)
        if ("anchor", *new) in self.model.state or new in self.ids or stop > 11:
            return None
        steps = [
            self._change(("anchor", *new), "live"),
            self._change(("anchor", text, start, stop), "replaced"),
        ]
        drafts = [
            (("draft", *new, *key[4:]), body)
            for key, body in self.model.state.items()
            if key[0] == "draft" and key[1:4] == (text, start, stop) and key[4] == who
        ]
        anchor = self.ids[text, start, stop]

        def do(store: Store) -> object:
            saved = store.edits.replace_anchor(
                anchor,
                store.people.ensure(who),
                Role.ADJUDICATOR,
                Anchor(start, stop + 1),
                store.edits.stale_labels(anchor, store.people.ensure(who)),
            )
            self.ids[new] = saved.anchor_id
            return saved

        return self.act("span", who, steps, do, drafts)

    def undo(self, places: Sequence[Place]) -> Act | None:  # noqa: ARG002
        return self._turn("undo")

    def redo(self, places: Sequence[Place]) -> Act | None:  # noqa: ARG002
        return self._turn("redo")

    def _turn(self, what: str) -> Act | None:
        able = [who for who in self.people if self.model.stack(what, who)]
        if not able:
            return None
        who = self.source.choice(able)
        steps = self.model.stack(what, who)[-1]
        if what == "undo":
            steps = [(key, after, before) for key, before, after in reversed(steps)]
        if any(self.model.state.get(key) != before for key, before, _ in steps):
            return None
        gone = [key for key, _, after in steps if key[0] == "anchor" and after != "live"]
        if any(map(self.model.is_answered_since, gone)):
            return None

        def do(store: Store) -> object:
            me = store.people.ensure(who)
            return store.edits.undo(me) if what == "undo" else store.edits.redo(me)

        return self.act(what, who, steps, do, stack=what)


def passage(text: str, anchors: Sequence[IncomingAnchor]) -> IncomingPassage:
    tokens, place = [], 0
    for word in text.split(" "):
        tokens.append(Token(place, place + len(word), word.lower()))
        place += len(word) + 1
    passage = Passage(text, tuple(tokens), (Turn(0, "Ann", 0, len(tokens)),))
    return IncomingPassage(passage, "words", tuple(anchors))
