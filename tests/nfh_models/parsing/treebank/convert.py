"""The treebank's trees as CoNLL-U: `python convert.py` writes train.conllu and heldout.conllu.

Each tree gives one sentence, named after its file and its number there ("dialog-12").
`corrections.tsv` holds what the rules get wrong, a line each: sentence, token (from 1),
column (upos, lemma, head, deprel), value.
"""

from collections.abc import Iterator
from pathlib import Path

from brackets import Node, read_trees
from dependencies import dependencies
from words import lemma_list, universal

HERE = Path(__file__).resolve().parent
HELD_OUT = "heldout"
COLUMNS = {"lemma": 2, "upos": 3, "head": 6, "deprel": 7}
PLAIN = {"``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]"}
"""The Penn Treebank's stand-ins; the words that parsers get are plain."""

Row = list[str]


def sentences(folder: Path = HERE) -> Iterator[tuple[str, Node]]:
    """Name and tree of each sentence, file by file."""
    for path in sorted(folder.glob("*.mrg")):
        for number, tree in enumerate(read_trees(path), 1):
            yield f"{path.stem}-{number}", tree


def rows(tree: Node) -> list[Row]:
    """The ten columns of each token."""
    leaves = list(tree.leaves())
    tags = [leaf.label for leaf in leaves]
    words = [PLAIN.get(leaf.word or "", leaf.word or "") for leaf in leaves]
    heads, relations = dependencies(tree)
    parts = universal(tags, words, relations)
    bases = lemma_list(words, tags)
    return [
        [
            str(place + 1),
            words[place],
            bases[place],
            parts[place],
            tags[place],
            "_",
            "0" if heads[place] == place else str(heads[place] + 1),
            relations[place],
            "_",
            "_",
        ]
        for place in range(len(words))
    ]


def corrections(folder: Path = HERE) -> dict[str, list[tuple[int, int, str]]]:
    """By sentence: row, column and value of each correction."""
    found: dict[str, list[tuple[int, int, str]]] = {}
    path = folder / "corrections.tsv"
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        if line and not line.startswith("#"):
            name, token, column, value = line.split("\t")
            found.setdefault(name, []).append((int(token) - 1, COLUMNS[column], value))
    return found


def convert(folder: Path = HERE) -> dict[str, str]:
    """The text of both CoNLL-U files, by file name.

    ValueError for a sentence that is no tree: more or less than one root, or a cycle.
    """
    corrected = corrections(folder)
    texts: dict[str, list[str]] = {"train.conllu": [], "heldout.conllu": []}
    for name, tree in sentences(folder):
        table = rows(tree)
        for row, column, value in corrected.get(name, ()):
            table[row][column] = value
        check(name, table)
        lines = [f"# sent_id = {name}", f"# text = {' '.join(row[1] for row in table)}"]
        lines += ["\t".join(row) for row in table]
        target = "heldout.conllu" if name.startswith(HELD_OUT) else "train.conllu"
        texts[target].append("\n".join(lines) + "\n\n")
    return {name: "".join(parts) for name, parts in texts.items()}


def check(name: str, table: list[Row]) -> None:
    """Raise ValueError unless the heads make one tree."""
    heads = [int(row[6]) for row in table]
    if heads.count(0) != 1:
        raise ValueError(f"{name}: {heads.count(0)} roots")
    for place in range(1, len(heads) + 1):
        seen = set()
        at = place
        while at:
            if at in seen:
                raise ValueError(f"{name}: token {place} hangs in a circle")
            seen.add(at)
            at = heads[at - 1]


def main() -> None:
    """Write both files."""
    for name, text in convert().items():
        (HERE / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
