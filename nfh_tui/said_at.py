"""When a turn is said, as people write it."""

from nfh_models.domain import Turn


def said_at(turn: Turn) -> str:
    """When it begins, from the start of the recording: "0:15", "1:02:15"; "" if not known."""
    if turn.begin is None:
        return ""
    minutes, seconds = divmod(turn.begin // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
