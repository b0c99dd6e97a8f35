"""Who answered a Prodigy task: annotators' names out of the names of sessions.

Prodigy names a session "dataset-name", and one that nobody named after the time it began; the
annotator of a task is called like the session unless a recipe says otherwise. Source: the
documentation of Prodigy, "Multi-user sessions" (https://prodi.gy/docs/api-web-app).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile

import msgspec

from nfh_db.formats.task_rows import checked_name
from nfh_db.formats.wording import shown

UNNAMED = re.compile(r"(?:.*-)?\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d", re.DOTALL)
"""A session that nobody named."""

OURS = "nfh-"
"""What the sessions of exported tasks begin with."""


class _Version(msgspec.Struct):
    sessions: list[str] | None = None


class Names(msgspec.Struct):
    """What a task says of who answered it; and its text and spans, if it is none of ours."""

    annotator: str | None = msgspec.field(default=None, name="_annotator_id")
    session: str | None = msgspec.field(default=None, name="_session_id")
    view: str | None = msgspec.field(default=None, name="_view_id")
    versions: list[_Version] | None = None
    text: str | None = None
    spans: msgspec.Raw = msgspec.Raw(b"null")
    nfh: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


decode_names = msgspec.json.Decoder(Names).decode


@dataclass
class People:
    """Whose sessions those of a file are.

    annotators: of sessions that a task names an annotator of its own for. prefix: what all
    sessions of annotators begin with; review_prefix: those of reviewers.
    """

    annotators: dict[str, str] = field(default_factory=dict)
    prefix: str = ""
    review_prefix: str = ""

    @classmethod
    def of(cls, tasks: Iterable[Names]) -> "People":
        """What the names of a file's tasks have in common."""
        people = cls()
        sessions: set[str] = set()
        reviewers: set[str] = set()
        reviewed: set[str] = set()
        for found in tasks:
            people._note(found, sessions if found.versions is None else reviewers)
            for version in found.versions or ():
                reviewed.update(version.sessions or ())
        people.prefix = common_start(sessions | (reviewed - people.annotators.keys()))
        people.review_prefix = common_start(reviewers)
        return people

    def _note(self, found: Names, sessions: set[str]) -> None:
        named, session = found.annotator, found.session
        if named is not None and session is not None and named != session:
            self.annotators[session] = named
        elif session is not None:
            sessions.add(session)

    def warnings(self) -> Iterator[str]:
        """What was taken off names, in sentences."""
        for prefix, whose in ((self.prefix, "annotators"), (self.review_prefix, "reviewers")):
            if prefix not in ("", OURS):
                yield (
                    f"the names of {whose} are those of sessions without {shown(prefix)}, the "
                    "dataset's name"
                )

    def who(self, annotator: str | None, session: str | None, *, review: bool) -> str | None:
        """The annotator of a task; None where nobody is named. Raises MarkError."""
        if annotator is not None and session is not None and annotator != session:
            return checked_name(annotator)
        named = annotator or session
        return named and self._in_session(named, self.review_prefix if review else self.prefix)

    def of_session(self, session: str) -> str | None:
        """Whose session a version of a review is of; None where nobody named it. Raises
        MarkError.
        """
        if session in self.annotators:
            return checked_name(self.annotators[session])
        return self._in_session(session, self.prefix)

    @staticmethod
    def _in_session(session: str, prefix: str) -> str | None:
        if UNNAMED.fullmatch(session):
            return None
        return checked_name(session.removeprefix(prefix))


def common_start(sessions: Iterable[str]) -> str:
    """What all session names begin with, up to the last "-" in it; of a single one all up to
    its last "-". Sessions that nobody named are passed over.
    """
    names = sorted({name for name in sessions if not UNNAMED.fullmatch(name)})
    if not names:
        return ""
    parts = [name.split("-")[:-1] for name in (names[0], names[-1])]
    # Of names in order, what the first and the last begin with all begin with.
    common = takewhile(lambda pair: pair[0] == pair[1], zip(*parts, strict=False))
    prefix = "".join(f"{one}-" for one, _ in common)
    return prefix if all(len(name) > len(prefix) for name in names) else ""
