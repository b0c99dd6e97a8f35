"""What a scan found as one JSON object."""

from typing import TYPE_CHECKING

from nfh_tui.scanning.tally import Count, Tally, wilson

if TYPE_CHECKING:
    from nfh_tui.scanning.engine import Task
    from nfh_tui.scanning.scan import Scan, Scanned
    from nfh_tui.scanning.sources import Source


def report_json(job: "Scan", source: "Source", task: "Task", top: int) -> dict[str, object]:
    """The report. `all` is the sum of the files that were read to their end."""
    return {
        "model": source.name,
        "recipe": source.recipe,
        "version": job.hello.version,
        "parser": job.hello.parser,
        "tokenizer": job.hello.tokenizer,
        "per_line": task.per_line,
        "files": [_file(file, top) for file in job.files],
        "all": figures(job.whole, job.seconds, top, len(job.whole.anchors)),
    }


def figures(tally: Tally, seconds: float, top: int, distinct: int) -> dict[str, object]:
    """The figures of a text; shares are fractions, None where there is nothing to share.

    distinct: different anchors, of which the tally may hold the most common only.
    """
    return {
        "bytes": tally.bytes,
        "words": tally.words,
        "sentences": tally.sentences,
        "sentences_with_number": tally.sentences_with_number,
        **_count(tally.total),
        "seconds": round(seconds, 3),
        "words_per_second": round(tally.words / seconds) if seconds else None,
        "undecodable": tally.undecodable,
        "nul_bytes": tally.nul,
        "distinct_anchors": distinct,
        "anchors_not_apart": tally.rest.numbers,
        "anchors": [
            {
                "anchor": words,
                "numbers": count.numbers,
                "nfh": count.nfh,
                "share_of_nfh": count.nfh / tally.total.nfh,
                "share": count.nfh / count.numbers,
            }
            for words, count in tally.common(top)
        ],
        "rules": [
            {"rule": rule, **_plain(count, tally.total.numbers)}
            for rule, count in sorted(
                tally.rules.items(), key=lambda item: (-item[1].numbers, item[0])
            )
        ],
    }


def _file(file: "Scanned", top: int) -> dict[str, object]:
    if not file.counted:
        return {"file": file.name, "failed": file.failed}
    return {
        "file": file.name,
        "failed": None,
        "changed_meanwhile": file.changed,
        "scanned_before": file.before or None,
        "resumed_at_byte": file.resumed or None,
        **figures(file.tally, file.state.seconds, top, file.distinct),
    }


def _count(count: Count) -> dict[str, object]:
    interval = wilson(count)
    return {
        "numbers": count.numbers,
        "nfh": count.nfh,
        "share": count.nfh / count.numbers if count.numbers else None,
        "share_95": None if interval is None else list(interval),
    }


def _plain(count: Count, of: int) -> dict[str, object]:
    return {
        "numbers": count.numbers,
        "nfh": count.nfh,
        "share_of_numbers": count.numbers / of,
    }
