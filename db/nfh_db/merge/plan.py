"""What a merge is going to do, found out before anything is written."""

from dataclasses import dataclass, field

from nfh_db.batches import BULK_FORMATS
from nfh_db.merge.families import Text, Thing
from nfh_db.merge.maps import Maps, Times
from nfh_db.merge.memory import Open
from nfh_db.merge.report import Why
from nfh_db.merge.sides import Act, AnchorRow, Batch, Logged, PassageRow, Person
from nfh_db.values import encode


@dataclass(frozen=True, slots=True)
class Coming:
    """An event of the other copy that is to come in.

    span: the anchor's row there. before, after: what it changes from and to. times: see
    `maps.Times`.
    """

    event: Logged
    span: AnchorRow
    before: Text
    after: Text
    times: Times | None = None

    def values(self, maps: Maps) -> tuple[str | None, str | None]:
        """What it changes from and to, in this copy's terms. Raises DamagedError."""
        return self._value(maps, self.before), self._value(maps, self.after)

    def _value(self, maps: Maps, value: Text) -> str | None:
        if value.here:
            return value.text
        return encode(maps.value(self.event.entity, value.text, self.times))


@dataclass(frozen=True, slots=True)
class Left:
    """A thing that is left to a person. passage: its id in the other copy.

    public_id: of its anchor, the same in every copy.
    """

    thing: Thing
    passage: int
    start: int
    stop: int
    why: Why
    public_id: str


@dataclass(slots=True)
class Plan:
    """What comes in, and what does not.

    shared: the same act, there and here. acts: those of the other copy that come in, or of
    which something does; loose: undos and redos among them that cannot be those of an act
    here. anchors: new ones, those that an import brought and those that people made; bare:
    further ones, left out, that a row of a new import names. direct: what a new import says
    of its own new anchors, by anchor's id there. waiting: all other events, in the order in
    which they happened there. open, open_anew: what is left, and whether some of that was not
    by an earlier merge. ground: the state of this copy's imports that all this holds for.
    """

    maps: Maps
    ground: tuple[int, ...]
    people: list[Person] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)
    passages: list[PassageRow] = field(default_factory=list)
    anchors: list[AnchorRow] = field(default_factory=list)
    bare: list[AnchorRow] = field(default_factory=list)
    direct: dict[int, list[Coming]] = field(default_factory=dict)
    waiting: list[Coming] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    loose: set[int] = field(default_factory=set)
    shared: dict[int, int] = field(default_factory=dict)
    left: list[Left] = field(default_factory=list)
    open: list[Open] = field(default_factory=list)
    open_anew: bool = False
    agreed: int = 0
    taken_back: int = 0

    @property
    def files(self) -> list[str]:
        """Names of the imported files that come in."""
        return [batch.name for batch in self.batches if batch.format not in BULK_FORMATS]

    @property
    def events(self) -> int:
        """Changes that come in."""
        return len(self.waiting) + sum(map(len, self.direct.values()))

    @property
    def is_empty(self) -> bool:
        """True if the log and what it is about get nothing new."""
        return not (self.people or self.batches or self.passages or self.anchors or self.events)
