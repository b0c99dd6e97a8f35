"""The statistics as one JSON object: every figure, shares as fractions."""

from collections.abc import Mapping
from enum import StrEnum

from nfh_models.statistics import paper
from nfh_models.statistics.anchors import Anchors
from nfh_models.statistics.heads import Heads, Side, Speaker
from nfh_models.statistics.paper import Part
from nfh_models.statistics.size import Size
from nfh_models.statistics.tally import Tally
from nfh_tui.cli.stats_notes import NFH_ONLY, nfhs_only, notes
from nfh_tui.cli.stats_reading import Asked, Found

Json = dict[str, object]


def as_json(found: Found, asked: Asked) -> Json:
    """The whole report. A part is {count, share}; a share without anything to be of is null."""
    statistics = found.statistics
    size = statistics.size
    return {
        "query": asked.query,
        "of": asked.of,
        "model": found.model,
        "by": asked.by,
        "notes": notes(found, asked),
        "numbers": {
            "found": statistics.found,
            "unsaid": statistics.unsaid,
            "from_identification_files": found.one_a_sentence,
            "from_resolution_files": found.nfh_only,
            "with_gold": found.with_gold if found.model is not None else size.numbers,
            **_said(size, found),
        },
        "anchors": _anchors(statistics.anchors, asked.top),
        "classes": _classes(size),
        "heads": _heads(statistics.heads),
        "passages": _passages(size),
        "groups": [
            {
                "name": name,
                "numbers": {"found": group.numbers, **_said(group, found)},
                "classes": _classes(group),
                "passages": _passages(group),
            }
            for name, group in sorted(
                statistics.groups.items(), key=lambda item: (-item[1].numbers, item[0] or "")
            )
        ],
        "paper": _paper(),
    }


def part(count: int, of: int) -> Json:
    """A count with its share."""
    return {"count": count, "share": count / of if of else None}


def tally(counts: Tally) -> Json:
    """What a tally knows; histogram: pairs of value and count, by value."""
    return {
        "n": counts.n,
        "sum": counts.total,
        "mean": counts.mean,
        "median": counts.median,
        "max": counts.most,
        "histogram": [list(pair) for pair in sorted(counts.counts.items())],
    }


def _said(size: Size, found: Found) -> Json:
    alone = nfhs_only(size, found)
    return {
        "said": size.said,
        "nfh": size.nfh,
        "not_nfh": size.not_nfh,
        "broken": size.broken,
        "share": None if alone else size.share,
        "why": NFH_ONLY if alone else None,
    }


def _anchors(anchors: Anchors, top: int) -> Json:
    n = anchors.n
    return {
        "n": n,
        "distinct": part(anchors.distinct, n),
        "once": part(anchors.once, n),
        "top": [
            {
                "text": word.text,
                **part(word.nfh, n),
                "numbers": word.numbers,
                "nfh_when_said": word.nfh / word.numbers,
            }
            for word in anchors.most_common(top)
        ],
        "lengths": [
            {"tokens": length, **part(times, n)}
            for length, times in sorted(anchors.lengths.counts.items())
        ],
        "longest": {"tokens": anchors.lengths.most, "text": anchors.longest} if n else None,
        "words": part(anchors.words, n),
        "digits": part(anchors.digits, n),
        "mixed": part(anchors.mixed, n),
    }


def _classes(size: Size) -> Json:
    n = size.with_class
    return {
        "n": n,
        "no_class": size.no_class,
        "unknown_in_other": size.unknown,
        **{kind.value: part(times, n) for kind, times in size.ranked()},
    }


def _heads(heads: Heads) -> Json:
    n = heads.n
    return {
        "n": n,
        "by_noun": tally(heads.nouns),
        "by_word": tally(heads.words),
        "by_mention": tally(heads.mentions),
        "sides": _parts({one: heads.sides[one] for one in Side}, n),
        "turns_off": {
            **{str(off): part(heads.turns.counts[off], n) for off in (0, 1, 2)},
            "3+": part(n - heads.turns.within(2), n),
        },
        "speakers": _parts({one: heads.speakers[one] for one in Speaker}, n),
        "distance": {
            **tally(heads.distance),
            "within": {
                str(limit): part(heads.distance.within(limit), n) for limit in (5, 10, 20, 40)
            },
        },
    }


def _parts(counts: Mapping[StrEnum, int], of: int) -> Json:
    return {one.value: part(times, of) for one, times in counts.items()}


def _passages(size: Size) -> Json:
    return {
        "n": size.passages,
        "tokens": _brief(size.tokens),
        "turns": _brief(size.turns),
        "tokens_for_each_number": _brief(size.read),
    }


def _brief(counts: Tally) -> Json:
    whole = tally(counts)
    del whole["n"], whole["histogram"]
    return whole


def _paper() -> Json:
    """The paper's own figures; see `nfh_models.statistics.paper` for sections and doubts."""
    return {
        "numbers": {name: _published(one) for name, one in paper.NUMBERS.items()},
        "elsewhere": dict(paper.ELSEWHERE),
        "identification": {
            "top": {text: _published(one) for text, one in paper.IDENTIFICATION_WORDS.items()},
            "distinct": _published(paper.DISTINCT),
            "lengths": {str(size): _published(one) for size, one in paper.LENGTHS.items()},
            "longest": paper.LONGEST,
            "words": _published(paper.WORDS),
            "digits": _published(paper.DIGITS),
        },
        "resolution": {
            "examples": paper.EXAMPLES,
            "tokens": paper.TOKENS,
            "top": {text: _published(one) for text, one in paper.RESOLUTION_WORDS.items()},
            "once": _published(paper.ONCE),
            "classes": {kind.value: _published(one) for kind, one in paper.CLASSES.items()},
            "head_words": {
                "3+" if number == 3 else str(number): _published(one)
                for number, one in paper.HEADS.items()
            },
            "same_sentence": _published(paper.SAME_SENTENCE),
            "next_sentence": _published(paper.NEXT_SENTENCE),
            "sides": {
                "before": _published(paper.BEFORE),
                "after": _published(paper.AFTER),
                "both": _published(paper.BOTH),
            },
        },
    }


def _published(one: Part) -> Json:
    return {"count": one.count, "share": one.share}
