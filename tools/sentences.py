"""List the sentences that people read on screens, in commands and in files that the program
writes: `python tools/sentences.py`.

A path names the packages, folders or modules to read; without one, all are read.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TREE = Path(__file__).parents[1]
PACKAGES = ("db/nfh_db", "nfh_models", "nfh_tui")
WORDS = re.compile(r"[^\W\d_]{2,}[,;:.)\"]* [(\"]*[^\W_]|^[A-Z][a-z]+\.?$|… |: \{")
SQL = re.compile(
    r"^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|DROP|ALTER|PRAGMA|FROM|WHERE|JOIN|LEFT|AND|OR"
    r"|ORDER|GROUP|EXISTS|CASE|UNION|ON|SET|VALUES|RECURSIVE|INDEXED|BEGIN|SAVEPOINT|RELEASE|NOT"
    r"|IS|IN|LIMIT|HAVING|max|min|sum|count|coalesce|EXPLAIN|ATTACH|DETACH|REINDEX|ANALYZE)\b"
    r"|\b(?:SELECT|FROM|WHERE|AND|EXISTS|NULL|PRIMARY KEY) ?[\w({]|= \?| IS \w"
)
COMMANDS = frozenset({"command", "group"})
TAGS = re.compile(r"\{#.*?#\}|\{%.*?%\}|<style>.*?</style>|<[a-z/!][^>]*>|\n\s*\n", re.DOTALL)
VALUES = re.compile(r"\{\{.*?\}\}", re.DOTALL)


class Sentence(NamedTuple):
    """A text of a module, with `{…}` where a value is put in."""

    module: str
    line: int
    text: str


def sentences(*paths: Path) -> Iterator[Sentence]:
    """Yield the texts of the modules and templates under the paths that read as English."""
    for path in paths or [TREE / name for name in PACKAGES]:
        for module in sorted(path.rglob("*.*")) if path.is_dir() else [path]:
            if module.suffix == ".py":
                yield from _of(module)
            elif module.suffix in (".j2", ".html"):
                yield from _of_template(module)


def _of(module: Path) -> Iterator[Sentence]:
    nodes = list(ast.walk(ast.parse(module.read_text("utf-8"))))
    hidden = set(_hidden(nodes))
    name = str(module.resolve().relative_to(TREE))
    for node in nodes:
        if node in hidden:
            continue
        text = _text(node)
        if text and WORDS.search(text) and not SQL.search(text):
            yield Sentence(name, getattr(node, "lineno", 0), text)


def _of_template(template: Path) -> Iterator[Sentence]:
    """The texts between the tags of a template, and those inside its expressions."""
    text = template.read_text("utf-8")
    name, start = str(template.resolve().relative_to(TREE)), 0
    for tag in (*TAGS.finditer(text), None):
        piece = text[start : tag.start() if tag else len(text)]
        inside = re.findall(r'"([^"]*)"', " ".join(VALUES.findall(piece)))
        for one in (VALUES.sub("{…}", piece), *inside):
            if WORDS.search(words := " ".join(one.split())):
                yield Sentence(name, text.count("\n", 0, start) + 1, words)
        start = tag.end() if tag else start


def _hidden(nodes: list[ast.AST]) -> Iterator[ast.AST]:
    """Docstrings, but for those that are the help of a command; parts of f-strings."""
    helps = {
        node.body[0]
        for node in nodes
        if isinstance(node, ast.FunctionDef) and any(map(_is_command, node.decorator_list))
    }
    for node in nodes:
        if isinstance(node, ast.Expr) and node not in helps:
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield from node.values


def _is_command(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Attribute) and called.attr in COMMANDS


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "{…}" for part in node.values)
    return ""


if __name__ == "__main__":
    for one in sentences(*map(Path, sys.argv[1:])):
        sys.stdout.write(f"{one.module}:{one.line}: {one.text!r}\n")
