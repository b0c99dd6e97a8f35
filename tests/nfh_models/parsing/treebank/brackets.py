"""Bracketed trees of the Penn Treebank's kind, one or more in a file.

A line that begins with a semicolon is a remark. A leaf is "(TAG word)"; the outermost
bracket is labelled ROOT. Token spans are end-exclusive.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_PART = re.compile(r"\(|\)|[^()\s]+")


@dataclass
class Node:
    """A phrase over tokens [start, end) with children, or a leaf with a word."""

    label: str
    start: int
    end: int
    children: list["Node"] = field(default_factory=list)
    word: str | None = None

    def leaves(self) -> Iterator["Node"]:
        """The leaves, from left to right."""
        if self.word is not None:
            yield self
        for child in self.children:
            yield from child.leaves()

    def spans(self) -> Iterator[tuple[str, int, int]]:
        """Label and span of each phrase, leaves left out, the outermost first."""
        if self.word is None:
            yield self.label, self.start, self.end
            for child in self.children:
                yield from child.spans()

    def __str__(self) -> str:
        inside = self.word if self.word is not None else " ".join(map(str, self.children))
        return f"({self.label} {inside})"


def read_trees(path: Path) -> list[Node]:
    """The trees of a file. ValueError, with path and place, for brackets that do not match."""
    lines = path.read_text("utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith(";"))
    try:
        return read_text(text)
    except ValueError as error:
        raise ValueError(f"{path.name}, {error}") from error


def read_text(text: str) -> list[Node]:
    """The trees of a text. ValueError for brackets that do not match."""
    parts = _PART.findall(text)
    trees: list[Node] = []
    place = 0
    while place < len(parts):
        try:
            tree, place = _node(parts, place, 0)
        except (IndexError, ValueError) as error:
            raise ValueError(f"tree {len(trees) + 1}: {error}") from error
        if tree.label != "ROOT":
            raise ValueError(f"tree {len(trees) + 1}: begins with {tree.label}")
        trees.append(tree)
    return trees


def _node(parts: list[str], place: int, start: int) -> tuple[Node, int]:
    """The bracket that opens at parts[place], and where to go on."""
    if parts[place] != "(" or parts[place + 1] in "()":
        raise ValueError(f"no label where {' '.join(parts[place : place + 6])!r} stands")
    node = Node(parts[place + 1], start, start)
    place += 2
    if parts[place] not in "()":
        node.word = parts[place]
        node.end = start + 1
        place += 1
    while parts[place] == "(":
        child, place = _node(parts, place, node.end)
        node.children.append(child)
        node.end = child.end
    if parts[place] != ")" or node.end == start:
        raise ValueError(f"no closing bracket where {parts[place]!r} stands")
    return node, place + 1
