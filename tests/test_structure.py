"""Bounds of the layout: modules of a folder, circles of imports, depth of classes.

The product has some 300 modules because each is as large as its subject. A new subject is a new
module; more code on an old one goes into the module that has it. So the bounds leave room for
a few new subjects, and a change that needs more says so here.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = {
    "nfh_db": ROOT / "db" / "nfh_db",
    "nfh_models": ROOT / "nfh_models",
    "nfh_tui": ROOT / "nfh_tui",
    "tools": ROOT / "tools",
}
MOST_IN_A_FOLDER = 36
MOST_IN_ALL = 290


def _modules() -> dict[str, Path]:
    found = {}
    for package, folder in PACKAGES.items():
        for path in folder.rglob("*.py"):
            parts = (package, *path.relative_to(folder).with_suffix("").parts)
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


def _at_top(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that run when a module is loaded, not those for type checkers."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If):
            if ast.unparse(node.test) != "TYPE_CHECKING":
                yield from _at_top(node.body)
            yield from _at_top(node.orelse)
        elif isinstance(node, ast.Try | ast.With | ast.ClassDef):
            yield from _at_top(node.body)


def _imported(
    imports: Iterable[ast.Import | ast.ImportFrom], known: Mapping[str, object]
) -> set[str]:
    """The modules of ours that are imported, not the packages they lie in."""
    found = set()
    for node in imports:
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        elif node.module:
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                found.add(whole if whole in known else node.module)
    return found & known.keys()


def _circle(graph: Mapping[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        return circle
    return []


def test_no_folder_holds_more_modules_than_can_be_looked_over():
    counts = Counter(path.parent.relative_to(ROOT) for path in _modules().values())
    assert {str(at): n for at, n in counts.items() if n > MOST_IN_A_FOLDER} == {}


def test_the_product_grows_by_subject_and_not_by_file():
    modules = _modules()
    assert {"nfh_db.store", "nfh_models.domain", "nfh_tui.app"} <= modules.keys()
    shipped = [name for name in modules if not name.startswith("tools.")]
    assert len(shipped) <= MOST_IN_ALL


def test_no_modules_load_each_other_in_a_circle():
    modules = _sources()
    graph = {name: _imported(one.imports, modules) for name, one in modules.items()}
    assert "nfh_db.connection" in graph["nfh_db.store"] | graph["nfh_db.database"]
    assert _circle(graph) == []


def test_a_circle_is_found_but_not_one_that_type_checkers_alone_see():
    known = dict.fromkeys(("nfh_x.a", "nfh_x.b", "nfh_x.c"))
    a = "from nfh_x import b"
    b = "try:\n    from nfh_x.c import thing\nexcept ImportError:\n    thing = None"
    c = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import nfh_x.a"
    graph = {
        name: _imported(_at_top(ast.parse(text).body), known)
        for name, text in zip(known, (a, b, c), strict=True)
    }
    assert graph == {"nfh_x.a": {"nfh_x.b"}, "nfh_x.b": {"nfh_x.c"}, "nfh_x.c": set()}
    assert _circle(graph) == []
    c += "\nelse:\n    import nfh_x.a"
    graph["nfh_x.c"] = _imported(_at_top(ast.parse(c).body), known)
    assert set(_circle(graph)) == set(known)


MOST_ANCESTORS = 2
MOST_METHODS = 60

Name = tuple[str, str]
"""A class, by its module and its own name."""


@dataclass
class _Class:
    """Bases of a class of ours, and the methods that it defines itself."""

    bases: list[Name]
    methods: set[str]


@dataclass
class _Source:
    """What the tests look at of a module; its tree would slow each garbage collection down."""

    imports: list[ast.Import | ast.ImportFrom]
    classes: dict[Name, _Class]
    called: set[str]


@cache
def _sources() -> dict[str, _Source]:
    found = {}
    for name, path in _modules().items():
        tree = ast.parse(path.read_text("utf-8"))
        called = {
            node.func.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        found[name] = _Source(list(_at_top(tree.body)), _classes(name, tree.body), called)
    return found


def _classes(module: str, body: list[ast.stmt]) -> dict[Name, _Class]:
    found = {}
    known: dict[str, Name] = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            known[node.name] = (module, node.name)
        elif isinstance(node, ast.ImportFrom) and node.module:
            known |= {n.asname or n.name: (node.module, n.name) for n in node.names}
    for node in body:
        if isinstance(node, ast.ClassDef):
            names = [b.value if isinstance(b, ast.Subscript) else b for b in node.bases]
            bases = [known[b.id] for b in names if isinstance(b, ast.Name) and b.id in known]
            functions = (ast.FunctionDef, ast.AsyncFunctionDef)
            methods = {part.name for part in node.body if isinstance(part, functions)}
            found[module, node.name] = _Class(bases, methods)
    return found


def _all_classes() -> dict[Name, _Class]:
    return {name: one for source in _sources().values() for name, one in source.classes.items()}


def _ancestors(name: Name, classes: Mapping[Name, _Class]) -> set[Name]:
    bases = [base for base in classes[name].bases if base in classes]
    return set(bases).union(*(_ancestors(base, classes) for base in bases))


def test_classes_are_composed_and_not_stacked():
    """Errors aside, and records, whose ancestors add fields and no methods."""
    classes = _all_classes()
    assert ("nfh_tui.workbench.screen", "Workbench") in classes
    deep, large = {}, {}
    for name, one in classes.items():
        above = _ancestors(name, classes)
        acting = [base for _, base in above if classes[_, base].methods]
        methods = one.methods.union(*(classes[base].methods for base in above))
        if len(acting) > MOST_ANCESTORS and not name[1].endswith("Error"):
            deep[".".join(name)] = sorted(acting)
        if len(methods) > MOST_METHODS:
            large[".".join(name)] = len(methods)
    assert deep == {}
    assert large == {}


def test_no_screen_inherits_from_a_screen_that_is_itself_shown():
    sources = _sources()
    bases = {base for one in _all_classes().values() for base in one.bases}
    called = {name for one in sources.values() for name in one.called}
    kinds = ("Screen", "Dialog", "App", "Workbench")
    ours = {name for module, name in bases if module in sources and name.endswith(kinds)}
    assert {"SideScreen", "ListDialog", "OrderedApp"} <= ours
    assert ours & called == set()
