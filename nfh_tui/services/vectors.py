"""Vectors of anchors in a file beside the database: an encoder's states, whose cosine says how
similar two numbers in their passages are.

The predictor makes the file for the active model of resolution, and again for another one. A
missing, damaged or foreign file is none. It has a header of HEADER bytes, JSON filled up with
blanks, and rows of `row_type`.

Which state was measured on the release's development split, 1,000 numbers, each beside those of
other passages. The nearest one by the state of the anchor has the same class in 77 %, and the
same place of the head (class; before or after, and how far) in 58 %; by its first 256 numbers
in 78 % and 60 %; by a layer of the scorer in 74 to 78 % and 55 to 58 %. Another one of the same
number word: 46 % and 25 %.

Numpy is imported where it is used: the workbench asks here at its start, mostly without a file.
"""

import os
from collections import deque
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from nfh_db.errors import ExportError
from nfh_db.formats.files import replacing
from nfh_db.records import Annotator, Role
from nfh_db.similar_items import Near, Precedent, SimilarAnswer
from nfh_models import ModelsError
from nfh_models.domain import Answer, Passage
from nfh_models.identification.base import ENCODER
from nfh_models.model_files import PACKAGED
from nfh_models.resolution.base import TASK, Item

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from nfh_db.models import Model
    from nfh_db.store import Store
    from nfh_models.encoder.model import EncoderModel

    Rows = NDArray[np.void]

WIDTH = 256
"""Numbers of a vector at most."""

HEADER = 1_024
NEAREST = 100
"""Neighbours that are returned at most."""

AT_ONCE = 1_024
"""Rows that are widened to 32 bits together; more of them leave the processor's cache."""

LEAST_WRITTEN = 64
"""Vectors between two writes; with more rows it is an eighth of them."""

NOBODY = Annotator(0, "", "model")


class Header(msgspec.Struct, frozen=True):
    """What the file is of."""

    model: str
    width: int
    rows: int
    anchors: int
    """Anchors of the database when it was written."""


def row_type(width: int) -> "np.dtype[np.void]":
    """An anchor, its `check_of`, and its vector of length 1."""
    import numpy as np

    return np.dtype([("anchor", "<i8"), ("check", "<u4"), ("vector", "<f2", (width,))])


def path_of(database: Path) -> Path:
    """The file of a database's vectors; it may not exist."""
    real = Path(os.path.realpath(database))
    return real.with_name(f"{real.name}-vectors")


def identity(model: "Model | None") -> str | None:
    """Tells the vectors of a model from all others; None for what is no encoder."""
    if model is None or model.recipe not in (ENCODER, *PACKAGED):
        return None
    return f"{model.id} {model.version} {model.digest or ''}"


def read_rows(path: Path, model: str) -> "tuple[Rows, Header]":
    """The rows of a file and its header; none of a missing, damaged or another model's file."""
    import numpy as np

    try:
        with path.open("rb") as file:
            header = msgspec.json.decode(file.read(HEADER), type=Header)
            kind = row_type(header.width)
            size = HEADER + header.rows * kind.itemsize
            if header.model == model and header.rows and path.stat().st_size == size:
                return np.memmap(file, kind, "r", HEADER, (header.rows,)), header
    except (OSError, ValueError, TypeError, OverflowError):
        pass  # made again by the predictor
    return np.empty(0, row_type(1)), Header(model, 1, 0, 0)


def nearest(
    rows: "Rows", anchor_id: int, among: Collection[int]
) -> dict[int, tuple[float, int]]:
    """The nearest of some anchors; see `Near`. Compares with all of them."""
    import numpy as np

    own = np.flatnonzero(rows["anchor"] == anchor_id)
    if not len(own):
        return {}
    wanted = np.fromiter(among, np.int64)
    places = np.union1d(own, np.flatnonzero(np.isin(rows["anchor"], wanted)))
    query = rows["vector"][own[0]].astype(np.float32)
    cosines = np.concatenate(
        [
            rows["vector"][places[start : start + AT_ONCE]].astype(np.float32) @ query
            for start in range(0, len(places), AT_ONCE)
        ]
    )
    cosines[~(np.abs(cosines) < 1.01)] = -1  # of a damaged vector
    cosines[places == own[0]] = np.inf  # first, whatever is equal to it
    best = np.argsort(-cosines, kind="stable")[: NEAREST + 1]
    return {
        int(row["anchor"]): (float(cosine), int(row["check"]))
        for row, cosine in zip(rows[places[best]], cosines[best], strict=True)
        if cosine > -1
    }


def _near(store: "Store") -> tuple[Near | None, str]:
    """What finds the nearest anchors, and why it may find none."""
    model = store.models.active(TASK)
    if (made_by := identity(model)) is None:
        return None, "no encoder is in use"
    path = path_of(store.path)
    state = "are being made" if os.access(path.parent, os.W_OK) else "cannot be written here"
    if path.exists():
        rows, header = read_rows(path, made_by)
        if header.rows:
            made = f"{header.rows:,} of {header.anchors:,}"
            return partial(nearest, rows), f"vectors {state}, {made} so far"
    return None, f"vectors {state}, none so far"


def precedents(
    store: "Store",
    anchor_id: int,
    me: Annotator,
    nouns: Collection[str],
    tag: str | None,
    *,
    model_hidden: bool,
) -> tuple[tuple[Precedent, ...], str]:
    """The precedents of an anchor, and why they are not ranked by vectors; "" if they are."""
    near, why = (None, "the model's answer is hidden") if model_hidden else _near(store)
    found = store.similar.precedents(anchor_id, me, nouns, tag, near)
    return found, "" if any(one.cosine is not None for one in found) else why


def alike(
    store: "Store", anchor_id: int, passage: Passage, answer: Answer, me: Annotator
) -> tuple[SimilarAnswer, ...]:
    """The items that are similar to a decided one, also by vectors."""
    return store.similar.find(anchor_id, passage, answer, me, _near(store)[0])


class VectorMaker:
    """Makes the vectors that a database lacks, one at a time, and writes the file."""

    def __init__(self, store: "Store") -> None:
        import numpy as np

        self._store = store
        self._path = path_of(store.path)
        self._of: tuple[object, ...] = ()
        self._kept: Rows = np.empty(0, row_type(1))
        self._made: list[tuple[int, int, NDArray[np.float32]]] = []
        self._lacking: deque[tuple[int, int]] = deque()
        self._anchors = 0
        self.trouble = ""
        """Why no more vectors are made, as a sentence; "" if they are."""

    def make_one(self, name: str, model: "EncoderModel") -> bool:
        """Make one vector; returns True if others are lacking. name: of the model, `identity`.

        Raises StoreError.
        """
        import numpy as np

        of = (name, self._store.similar.newest())
        if of != self._of:
            self._begin(name)
            self._of = of
        if not self._lacking:
            return False
        anchor_id, check = self._lacking.popleft()
        item = self._store.items.read(anchor_id, NOBODY, Role.ANNOTATOR)
        try:
            if item is not None:
                (state,) = model.anchor_states([Item(item.passage, item.anchor)])
                vector = state[:WIDTH]
                length = float(np.linalg.norm(vector)) or 1.0
                self._made.append((anchor_id, check, vector / length))
            enough = max(LEAST_WRITTEN, len(self._kept) // 8)
            if len(self._made) >= enough or not self._lacking:
                self._write(name)
        except (ModelsError, ExportError) as error:
            self.trouble = f"Precedents are not ranked by meaning: no vectors are made. {error}"
            self._lacking.clear()
        return bool(self._lacking)

    def _begin(self, name: str) -> None:
        """Keep the vectors of this model in the file, and list the anchors without one."""
        import numpy as np

        places = self._store.similar.places()
        rows, _ = read_rows(self._path, name)
        stored = dict(zip(rows["anchor"].tolist(), rows["check"].tolist(), strict=True))
        lacking = [(id_, check) for id_, check in places if stored.get(id_) != check]
        wanted = [id_ for id_, check in places if stored.get(id_) == check]
        self._kept = rows[np.isin(rows["anchor"], wanted)]
        self._made, self._lacking, self._anchors = [], deque(lacking), len(places)

    def _write(self, name: str) -> None:
        """Replace the file by one with all vectors. Raises ExportError."""
        import numpy as np

        if not self._made:
            return
        width = len(self._made[0][2])
        made = np.array(self._made, row_type(width))
        rows = np.concatenate([self._kept, made]) if len(self._kept) else made
        header = Header(name, width, len(rows), self._anchors)
        with replacing(self._path) as file:
            file.write(msgspec.json.encode(header).ljust(HEADER))
            file.write(rows.tobytes())
        self._kept, self._made, self.trouble = rows, [], ""
