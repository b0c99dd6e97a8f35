"""The rules by which brat takes a document, as its server checks them when it is opened.

Written after the description of the standoff format, https://brat.nlplab.org/standoff.html,
and of what its annotation parser refuses. `problems` tells what brat would not take.
"""

import re
from collections.abc import Iterator, Mapping

ID = re.compile(r"([TREAMN#])\d+|\*")
FRAGMENT = re.compile(r"(\d+) (\d+)")


def problems(text: bytes, ann: bytes, conf: str) -> list[str]:
    """What brat would refuse of a document, or show otherwise than it was meant."""
    document = text.decode("utf-8")
    # brat opens files as text: what ends a line is a line feed then.
    if len(document.replace("\r\n", "\n")) != len(document):
        return ["the text is shorter once its line ends are read"]
    content = ann.decode("utf-8")
    if content.splitlines() != content.split("\n")[:-1]:
        return ["a line ends somewhere else than at a line feed"]
    lines = dict[str, str]()
    found = []
    for line in content.splitlines():
        id_, tab, rest = line.partition("\t")
        if not tab or not ID.fullmatch(id_):
            found.append(f"no id: {line}")
        elif id_ != "*" and id_ in lines:
            found.append(f"twice: {id_}")
        lines[id_ if id_ != "*" else f"* {rest}"] = rest
    types = declared(conf)
    for id_, rest in lines.items():
        found += [f"{id_} {rest}: {problem}" for problem in _line(id_, rest, document, lines)]
        type_ = rest.split()[0]
        if id_[0] in "TRA*" and type_ not in types[id_[0]]:
            found.append(f"{type_} is not declared")
    return found


def declared(conf: str) -> Mapping[str, set[str]]:
    """The types of an annotation.conf, by the letter of their ids."""
    sections: dict[str, set[str]] = {}
    for line in conf.splitlines():
        if line.startswith("["):
            section = sections.setdefault(line, set())
        elif line:
            section.add(line.split("\t")[0])
    relations = sections["[relations]"] | {"Equiv"}
    return {
        "T": sections["[entities]"],
        "R": relations,
        "*": relations,
        "A": sections["[attributes]"],
    }


def _line(id_: str, rest: str, document: str, lines: Mapping[str, str]) -> Iterator[str]:
    data, _, tail = rest.partition("\t")
    parts = data.split()
    if id_[0] == "T":
        yield from _span(data, tail, document)
    elif id_[0] == "R":
        arguments = [part.split(":") for part in parts[1:]]
        if len(arguments) != 2 or arguments[0][0] == arguments[1][0]:
            yield "wanted two arguments of different roles"
        yield from (f"no {target}" for _, target in arguments if target not in lines)
    elif id_[0] == "*":
        yield from (f"no {target}" for target in parts[1:] if target not in lines)
    elif id_[0] == "A":
        if len(parts) not in (2, 3) or parts[1] not in lines:
            yield "wanted a name, a target and perhaps a value"
    elif id_[0] == "#" and (len(parts) != 2 or parts[1] not in lines):
        yield "wanted a type and a target"


def _span(data: str, tail: str, document: str) -> Iterator[str]:
    places = [match.groups() for match in FRAGMENT.finditer(data)]
    label = data.split(" ", maxsplit=1)[0]
    spans = [(int(start), int(end)) for start, end in places]
    if f"{label} " + ";".join(f"{start} {end}" for start, end in spans) != data:
        yield "wanted a type and fragments"
        return
    seen: list[tuple[int, int]] = []
    for start, end in spans:
        if not 0 <= start < end <= len(document):
            yield f"the fragment {start} to {end} is outside the text"
        if "\n" in document[start:end]:
            yield f"the fragment {start} to {end} goes over a line's end"
        if any(end >= first and start < last for first, last in seen):
            yield "fragments overlap"
        seen.append((start, end))
    if tail != " ".join(document[start:end] for start, end in spans):
        yield "the text stated is another one"
