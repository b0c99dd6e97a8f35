"""`prodigy`: the tasks of Prodigy, one JSON object a line, as `prodigy db-out` writes them."""

from nfh_db.formats.format import First, Format, How, holds
from nfh_db.formats.json_rows import first_value
from nfh_db.formats.prodigy_form import ANSWERS
from nfh_db.formats.prodigy_read import read
from nfh_db.formats.prodigy_write import ProdigyWriter

MARKS = ("_input_hash", "_task_hash", "_annotator_id", "_session_id", "_view_id")


def sniff(first: First) -> str | None:
    """Why a file looks like tasks of Prodigy."""
    value = first_value(first)
    if value is None or "format" in value or not isinstance(value.get("text"), str):
        return None
    if isinstance(value.get("label"), list) or "entities" in value:
        return None
    own = next((key for key in MARKS if key in value), None)
    if own is not None:
        return f'its first item is a JSON object with a text and "{own}"'
    if value.get("answer") in ANSWERS:
        return 'its first item is a JSON object with a text and an "answer"'
    if _spans(value.get("spans")):
        return 'its first item is a JSON object with a text and "spans"'
    return None


def _spans(spans: object) -> bool:
    return isinstance(spans, list) and all(
        isinstance(span, dict) and {"start", "end", "label"} <= span.keys() for span in spans
    )


PRODIGY = Format(
    name="prodigy",
    extensions=(".jsonl", ".json"),
    description=(
        "tasks of Prodigy: a text with spans and relations; one line for each answer, gold as "
        "the review recipe writes it"
    ),
    example=(
        '{"text":"No, three.","spans":[{"start":4,"end":9,"token_start":2,"token_end":2,'
        '"label":"AGE"}],"answer":"accept","_annotator_id":"eva"}'
    ),
    read=read,
    sniff=sniff,
    chunks=ProdigyWriter,
    carries_split=True,
    holds=holds(
        How.OWN,
        TIME=How.BESIDE,
        SEEN=How.BESIDE,
        FLAGS=How.BESIDE,
        RULE=How.BESIDE,
        SPLIT=How.BESIDE,
        SPEAKERS=How.BESIDE,
        SAID_AT=How.BESIDE,
    ),
    settings=frozenset({"map", "window"}),
)
