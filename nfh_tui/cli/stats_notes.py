"""Which numbers the shares are of, in sentences."""

from nfh_db.formats.wording import counted
from nfh_models.statistics.size import Size
from nfh_tui.cli.stats_reading import Asked, Found

NFH_ONLY = (
    "No number here is said to be none, as in files of the resolution release, which hold "
    "NFHs only: so there is no share of NFHs among numbers."
)
ONE_A_SENTENCE = (
    "came from identification files, which label one number a sentence: other numbers of those "
    "sentences are not among them."
)


def notes(found: Found, asked: Asked) -> list[str]:
    """What a reader has to know of the shares, most important first."""
    statistics = found.statistics
    size = statistics.size
    if not size.numbers:
        return [_nothing(found, asked)]
    lines = [_counted(found)]
    if nfhs_only(size, found):
        lines.append(NFH_ONLY)
    elif found.nfh_only:
        lines.append(
            f"{found.nfh_only:,} of them came from resolution files, which hold NFHs only: "
            "these raise the share."
        )
    if found.one_a_sentence:
        lines.append(f"{found.one_a_sentence:,} of them {ONE_A_SENTENCE}")
    if found.model is not None:
        lines.append("A model says NFH or not and no more: there are no classes and no heads.")
        if found.with_gold:
            have = "has" if found.with_gold == 1 else "have"
            lines.append(f"{found.with_gold:,} {have} gold, too, which is not looked at here.")
    return lines


def nfhs_only(size: Size, found: Found) -> bool:
    """Whether gold calls all of these NFHs, so that their share says nothing of the text.

    A model that says so has looked at all of them; people may have been given NFHs only.
    """
    return found.model is None and size.nfh > 0 and not size.not_nfh


def _counted(found: Found) -> str:
    """How many numbers the shares are of, and which are in none."""
    size = found.statistics.size
    if nfhs_only(size, found):
        said = f"All {size.nfh:,} that are said to be anything are NFHs"
    else:
        said = (
            f"Shares of NFHs are of the {counted(size.said, 'number')} said to be one or none"
        )
    left = []
    if found.statistics.unsaid:
        who = "without gold" if found.model is None else "that the model has not decided"
        left.append(f"{found.statistics.unsaid:,} {who}")
    if size.broken:
        left.append(f"{size.broken:,} BROKEN")
    return f"{said}. In no share: {' and '.join(left)}." if left else f"{said}."


def _nothing(found: Found, asked: Asked) -> str:
    statistics = found.statistics
    if not statistics.found:
        return "The query finds no number." if asked.query else "There is no number here."
    if found.model is None:
        return (
            "None of them has gold. `nfh-tui stats --of identified` counts by what the active "
            "model of identification says."
        )
    return (
        f"The model {found.model} has decided none of them: `nfh-tui identify` has it decide."
    )
