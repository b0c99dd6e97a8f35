"""An answer as the results of an annotation: regions, their relations, and what is typed."""

from collections.abc import Mapping, Sequence
from typing import Any

from nfh_db.formats.labelstudio_layout import Layout
from nfh_db.formats.marked import Graph, graph_of, renamed
from nfh_db.formats.options import LabelMap
from nfh_models.domain import Anchor, Answer


def drawn(
    answer: Answer | None,
    anchor: Anchor,
    starts: Sequence[int],
    ends: Sequence[int],
    layout: Layout,
    labels: LabelMap,
) -> list[dict[str, Any]]:
    """The results that show an answer; of none the number alone.

    Token i is code points [starts[i], ends[i]). Raises ExportError for a name that the mapping
    would read back as another one.
    """
    graph = renamed(graph_of(answer, anchor, starts, ends), labels)
    results = [
        {
            "id": f"s{rank}",
            "from_name": layout.tags.control,
            "to_name": layout.tags.object,
            "type": layout.tags.type,
            "value": layout.region(spot.start, spot.end, spot.label),
        }
        for rank, spot in enumerate(graph.spots)
    ]
    results += _links(graph)
    if answer is not None and (answer.noun or answer.comment):
        number = graph.spots[0]
        for name, words in (("noun", answer.noun), ("comment", answer.comment)):
            if words:
                place = layout.region(number.start, number.end)
                results.append(_typed(_theirs(name, labels), words, place, layout))
    return results


def _links(graph: Graph) -> list[dict[str, Any]]:
    return [
        {
            "type": "relation",
            "from_id": f"s{link.source}",
            "to_id": f"s{link.target}",
            "direction": "right",
            "labels": [link.label],
        }
        for link in graph.links
    ]


def _theirs(name: str, labels: LabelMap) -> str:
    """What a project calls the text area of that name."""
    return next((theirs for theirs, ours in labels.layer.items() if ours == name), name)


def _typed(name: str, words: str, place: Mapping[str, Any], layout: Layout) -> dict[str, Any]:
    return {
        "id": "s0",
        "from_name": name,
        "to_name": layout.tags.object,
        "type": "textarea",
        "value": {**place, "text": [words]},
    }
