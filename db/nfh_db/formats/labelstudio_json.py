"""The JSON of Label Studio's exports, as far as anything in it is read.

From its documentation: "Label Studio JSON format of annotated tasks"
(https://labelstud.io/guide/task_format), and the tags Text, Paragraphs and HyperText
(https://labelstud.io/tags/text).
"""

from typing import Any

import msgspec

NAME = "label-studio"
"""Of the format, and of what is carried along of its files."""

ANCHOR_ONLY = "nfh-tui"
"""The name of the model whose predictions mark numbers and say nothing of them."""


class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a region is and what is said of it.

    start, end: characters of a Text; of Paragraphs the ranks of two of them, as text, and of
    HyperText XPaths. text: what stands there, of a text area what was typed.
    """

    start: int | str | None = None
    end: int | str | None = None
    startOffset: int | None = None  # noqa: N815 - the format's own name
    endOffset: int | None = None  # noqa: N815
    globalOffsets: dict[str, int] | None = None  # noqa: N815
    text: str | list[str] | None = None
    labels: list[str] = []
    paragraphlabels: list[str] = []
    hypertextlabels: list[str] = []
    choices: list[str] = []

    @property
    def names(self) -> list[str]:
        """Its labels, by whatever tag they were given."""
        return self.labels or self.paragraphlabels or self.hypertextlabels


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the tool calls the meta information of a region: a note that somebody typed."""

    text: str | list[str] | None = None

    @property
    def words(self) -> str:
        """The note, a line for each part."""
        return self.text if isinstance(self.text, str) else "\n".join(self.text or ())


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of an annotation: a region, what is said of one, or a relation of two."""

    type: str
    id: str | int | None = None
    from_name: str = ""
    to_name: str = ""
    value: Value | None = None
    from_id: str | int | None = None
    to_id: str | int | None = None
    direction: str | None = None
    labels: list[str] | None = None
    meta: Note | None = None


class Tags(msgspec.Struct, frozen=True, array_like=True):
    """Names of the control and the object that regions belong to, and the type of regions,
    which is also the name of the list of their labels.
    """

    control: str = "label"
    object: str = "text"
    type: str = "labels"


class User(msgspec.Struct, frozen=True):
    """Somebody, as exports with people's names have it."""

    id: int | None = None
    email: str | None = None
    first_name: str | None = None
    last_name: str | None = None


class Annotation(msgspec.Struct, frozen=True):
    """What one person said. result: of Results.

    import_id: the id that it was imported with; UNSET in files that know no such key.
    """

    result: msgspec.Raw
    id: int | str | None = None
    completed_by: int | User | None = None
    was_cancelled: bool | None = False
    ground_truth: bool | None = False
    created_at: str | None = None
    updated_at: str | None = None
    lead_time: float | None = None
    import_id: int | str | msgspec.UnsetType | None = msgspec.UNSET


class Prediction(msgspec.Struct, frozen=True):
    """What a model said. result: of Results."""

    result: msgspec.Raw
    model_version: str | None = None
    created_at: str | None = None


class Task(msgspec.Struct, frozen=True):
    """A text with what people and models say of it.

    data: None of an object that is no task, as an item of JSON_MIN. completions: as old exports
    call the annotations. predictions: numbers where an export names them by their ids only.
    """

    data: dict[str, msgspec.Raw] | None = None
    id: int | str | None = None
    annotations: list[Annotation] | None = None
    completions: list[Annotation] | None = None
    predictions: list[Prediction | int] | None = None
    drafts: list[Any] | None = None
    meta: msgspec.Raw = msgspec.Raw(b"null")
