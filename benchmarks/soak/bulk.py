"""Acts on much at once: files in and out, assignments, settlements, copies and merging."""

from collections.abc import Sequence

from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import (
    FlagMark,
    FlagName,
    Gold,
    IncomingAnchor,
    IncomingPassage,
    Role,
    Rule,
    Vote,
)
from nfh_db.store import Store
from nfh_models.domain import Anchor, Answer, Kind, SettlingRule, class_answer, settle
from soak.acts import AT, PREFIX, WORDS, Act, Choosing, Place, Step, passage
from soak.state import Key, Value, answer_from, answer_said, gold_parts, gold_said

ANCHORS = (3, 5, 8)
"""Tokens of a passage, from the first of WORDS on, that are anchors; others may become one."""

BY_RULE = (Rule.UNANIMOUS, Rule.MAJORITY)
COPY = ".copy"
OTHER = ".other"
"""How the names of copies end: of backups, and of those that are worked on and merged."""

Changes = list[tuple[Key, Value | None]]


class Chooser(Choosing):
    """Chooses a worker's next act from what the model holds."""

    def next(self) -> Act:
        """The next act; its number is part of what it writes, so that no two say the same."""
        self.model.count += 1
        places = self.live()
        if len(places) < 12:
            return self._import(places)
        makers = {
            self.answer: 40,
            self.decide: 16,
            self.withdraw: 4,
            self.flag: 8,
            self.draft: 6,
            self.span: 4,
            self.undo: 24,
            self.redo: 12,
            self._import: 3,
            self._settle: 6,
            self._turn_bulk: 4,
            self._merge: 1,
            self._assign: 1,
            self._export: 0.5,
            self._back_up: 0.5,
        }
        maker = self.source.choices(list(makers), list(makers.values()))[0]
        return maker(places) or self.answer(places)

    # --- files ----------------------------------------------------------------------------

    def _import(self, places: Sequence[Place]) -> Act:
        """New passages, and answers and gold for some of those that are there."""
        number, source = self.model.count, self.source
        changes: Changes = []
        rows = [
            self._new_passage(f"{self.own}{number}.{rank}", changes)
            for rank in range(source.choice((5, 40, 150)))
        ]
        known = [place for place in places if place in self.ids]
        again = source.sample(known, min(len(known), source.choice((0, 5, 60))))
        rows += [passage(place[0], [self._row(place, changes)]) for place in again]
        file = IncomingFile(f"{self.own}{number}.jsonl", f"{self.own}{number}", "gold")

        def do(store: Store) -> object:
            return store.imports.load(file, rows, replace_gold=True)

        return Act("import", f"{self.own}-import", "", changes, [], do)

    def _new_passage(self, name: str, changes: Changes) -> IncomingPassage:
        text, anchors = f"{name} : {WORDS}", []
        for token in ANCHORS[: self.source.randint(1, 3)]:
            place = (text, token + PREFIX, token + PREFIX + 1)
            changes.append((("anchor", *place), "live"))
            anchors.append(self._row(place, changes))
        return passage(text, anchors)

    def _row(self, place: Place, changes: Changes) -> IncomingAnchor:
        """What a file says of an anchor; what that changes is added to `changes`."""
        source, name = self.source, f"{self.own}-i{self.model.count}"
        gold, votes, flags = None, [], []
        if source.random() < 0.3 and self._open_to_files(place):
            answer = self.answer_of(place, but=Kind.NFH)
            gold = Gold(answer, Rule.IMPORTED)
            changes.append((("gold", *place), gold_said(answer, Rule.IMPORTED, None)))
        for who, said in self._votes(
            place, name, new=("anchor", *place) not in self.model.state
        ):
            votes.append(Vote(who, Role.ANNOTATOR, said, AT))
            changes.append((("answer", *place, who, "annotator"), answer_said(said)))
        if source.random() < 0.1:
            flags.append(FlagMark(FlagName.GUIDELINE, name, AT))
            changes.append((("flag", *place, name, FlagName.GUIDELINE.value), "set"))
        anchor = Anchor(place[1], place[2])
        line = len(changes)
        return IncomingAnchor(line, anchor, None, self.own, gold, tuple(votes), tuple(flags))

    def _votes(self, place: Place, name: str, *, new: bool) -> list[tuple[str, Answer]]:
        """Nobody's, or one person's; three that mostly agree for an anchor to be settled.

        Those of the latter never change, so that it is known what settles them.
        """
        draw = self.source.random()
        if self.is_voted(place):
            kinds = self.source.choice(((Kind.AGE,) * 3, (Kind.AGE, Kind.YEAR, Kind.AGE)))
            given = zip(self.voters, map(class_answer, kinds), strict=True)
            return list(given) if new and draw < 0.7 else []
        return [(name, self.answer_of(place))] if draw < 0.5 else []

    def _open_to_files(self, place: Place) -> bool:
        gold = self.model.state.get(("gold", *place))
        return gold is None or gold_parts(gold)[1] == Rule.IMPORTED

    def _export(self, places: Sequence[Place]) -> Act:  # noqa: ARG002
        """A file that stands there whole, the old one or the new."""
        out = self.database.with_name(f"{self.own}.jsonl")

        def do(store: Store) -> object:
            from nfh_db.formats.registry import GOLD
            from nfh_tui.services.imports import export_file

            return export_file(store, parse(""), GOLD, out)

        return Act("export", self.own, "", [], [], do)

    def _back_up(self, places: Sequence[Place]) -> Act:  # noqa: ARG002
        """A copy that is there whole or not at all."""
        target = self.database.with_name(f"{self.own}-{self.model.count}{COPY}")

        def do(store: Store) -> object:
            from nfh_db.database import back_up

            return back_up(store.path, target)

        return Act("backup", self.own, "", [], [], do)

    # --- settlements ----------------------------------------------------------------------

    def _settle(self, places: Sequence[Place]) -> Act | None:
        """Gold of the votes on all that is this worker's; what is settled stays so."""
        rule = self.source.choice(BY_RULE)
        state = self.model.state
        steps: list[Step] = []
        for place in places:
            keys = [("answer", *place, who, Role.ANNOTATOR.value) for who in self.voters]
            if ("gold", *place) in state or keys[0] not in state:
                continue
            votes = [(str(key[4]), answer_from(state[key])) for key in keys]
            made = settle(votes, place[0].lower().split(" "), SettlingRule(rule)).answer
            if made is not None:
                after = gold_said(made, rule, None, self.voters)
                steps.append((("gold", *place), None, after))
        if not steps:
            return None
        query = parse(f"text:{self.own} said:{self.voters[0]}/AGE")

        def do(store: Store) -> object:
            return store.settlement.run(query, rule, store.people.ensure(self.boss))

        return self.act("settle", self.boss, steps, do)

    def _turn_bulk(self, places: Sequence[Place]) -> Act | None:  # noqa: ARG002
        """Take a settlement back, or do it again, where nobody has changed the gold since."""
        what = self.source.choice(("undo", "redo"))
        stack = self.model.stack(what, self.boss)
        steps = [] if not stack else stack[-1]
        if what == "undo":
            steps = [(key, after, before) for key, before, after in steps]
        state = self.model.state
        able = [
            (key, before, after)
            for key, before, after in steps
            if state.get(key) == before
            # A number that was replaced since gets no gold again.
            and (after is None or state.get(("anchor", *key[1:4])) == "live")
        ]
        if not able:
            return None

        def do(store: Store) -> object:
            me = store.people.ensure(self.boss)
            return store.edits.undo(me) if what == "undo" else store.edits.redo(me)

        return self.act(f"{what} settle", self.boss, able, do, stack=what)

    def _assign(self, places: Sequence[Place]) -> Act:  # noqa: ARG002
        """Work and hidden checks for the two people; what is done follows their answers."""
        query, seed = parse(f"text:{self.own}"), self.source.randrange(99)
        people = list(self.people)

        def do(store: Store) -> object:
            from nfh_db.assignment_plan import Amount, AssignmentRequest

            wanted = AssignmentRequest(each=2, checks=Amount(5, percent=True), seed=seed)
            return store.assignments.assign(query, None, people, wanted, limit=60)

        return Act("assign", self.own, "", [], [], do)

    # --- copies worked on elsewhere -------------------------------------------------------

    def _merge(self, places: Sequence[Place]) -> Act:
        """A copy in which somebody answers and imports, brought in again."""
        number, far = self.model.count, f"{self.own}-far{self.model.count}"
        changes: Changes = []
        rows = [self._new_passage(f"{self.own}{number}.far{n}", changes) for n in range(3)]
        known = [place for place in places if place in self.ids]
        given = []
        for place in self.source.sample(known, min(len(known), 12)):
            voted = self.is_voted(place)
            role = Role.ADJUDICATOR if voted else self.source.choice(list(Role))
            answer = self.answer_of(place)
            given.append((self.ids[place], role, answer))
            changes.append((("answer", *place, far, role.value), answer_said(answer)))
            if role is Role.ADJUDICATOR:
                changes.append((("gold", *place), gold_said(answer, Rule.EXPERT, far)))
        file = IncomingFile(f"{self.own}{number}far.jsonl", f"{self.own}{number}far", "gold")
        other = self.database.with_name(f"{self.own}-{number}{OTHER}")

        def do(store: Store) -> object:
            from nfh_db.database import back_up

            back_up(store.path, other)
            with Store.open(other) as copy:
                me = copy.people.ensure(far)
                for anchor, role, answer in given:
                    copy.edits.commit_answer(anchor, me, role, answer)
                copy.imports.load(file, rows)
            return store.merge.run(other, f"{self.own}-merger")

        return Act("merge", f"{self.own}-merger", "", changes, [], do)
