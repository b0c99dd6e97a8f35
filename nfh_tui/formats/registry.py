"""The one list of formats. Commands, help, README and the importer go by it.

A third party adds one by an entry point in the group `nfh_tui.formats`: a
`nfh_db.formats.format.Format`, or a function without arguments that returns one.
"""

from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points

from nfh_db.formats.brat import BRAT
from nfh_db.formats.convokit import CONVOKIT
from nfh_db.formats.doccano import DOCCANO
from nfh_db.formats.format import Format
from nfh_db.formats.fountain import FOUNTAIN
from nfh_db.formats.labelstudio import LABEL_STUDIO
from nfh_db.formats.prodigy import PRODIGY
from nfh_db.formats.registry import FORMATS as PLAIN
from nfh_db.formats.subtitles import SUBRIP, WEBVTT
from nfh_db.formats.tables import TABLE
from nfh_tui.formats.chat import CHAT
from nfh_tui.formats.conllu import CONLLU
from nfh_tui.formats.docbin import DOCBIN
from nfh_tui.formats.huggingface import HF_PARQUET
from nfh_tui.formats.inception import INCEPTION_JSON, INCEPTION_XMI
from nfh_tui.formats.third_party import loaded

GROUP = "nfh_tui.formats"

OURS: tuple[Format, ...] = (
    *PLAIN,
    PRODIGY,
    DOCCANO,
    LABEL_STUDIO,
    BRAT,
    TABLE,
    CONVOKIT,
    SUBRIP,
    WEBVTT,
    FOUNTAIN,
    CHAT,
    CONLLU,
    HF_PARQUET,
    INCEPTION_JSON,
    INCEPTION_XMI,
    DOCBIN,
)
"""Libraries that some are read and written by are loaded on use."""


@lru_cache(maxsize=1)
def known() -> tuple[tuple[Format, ...], tuple[str, ...]]:
    """All formats, and sentences on those of third parties that cannot be used."""
    formats = list(OURS)
    troubles = []
    for point in sorted(entry_points(group=GROUP), key=lambda one: one.name):
        found = _third(point, {format_.name for format_ in formats})
        if isinstance(found, Format):
            formats.append(found)
        else:
            troubles.append(found)
    return tuple(formats), tuple(troubles)


def _third(point: EntryPoint, taken: set[str]) -> Format | str:
    """A third party's format, or why it cannot be used."""
    found = loaded(point)
    if isinstance(found, Format) and found.name in taken:
        return (
            f"the format {point.name} of {point.value} is left out: there is a format of that "
            "name"
        )
    return found


def formats() -> tuple[Format, ...]:
    """All formats, ours first."""
    return known()[0]


def by_name(name: str) -> Format:
    """The format of that name. Raises KeyError."""
    return {format_.name: format_ for format_ in formats()}[name]


def readable() -> tuple[str, ...]:
    """Names of the formats that can be imported."""
    return tuple(format_.name for format_ in formats())


def writable() -> tuple[str, ...]:
    """Names of the formats that can be exported."""
    return tuple(format_.name for format_ in formats() if format_.writable)
