"""The spaCy component: `nlp.add_pipe("nfh")`, for English pipelines of spaCy 3.8.

It finds the numbers of a Doc, decides with a recipe of identification which of them miss their
noun, and says what the noun is: by the paper's four patterns (section 5.1), else by cues
(`nfh_models.resolution.cues`). The attributes stand in `attributes`.

    import spacy
    nlp = spacy.load("en_core_web_sm")
    nlp.add_pipe("nfh")
    for span in nlp("I have two dogs and she has three.")._.nfh:
        print(span, span._.nfh_head)
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from nfh_models.component.attributes import Anchor, assigned, register, store
from nfh_models.component.files import (
    CFG,
    IDENTIFIER,
    Settings,
    State,
    decode,
    encode,
    read_files,
    read_state,
    write_state,
)
from nfh_models.component.identifier import from_files, from_setting
from nfh_models.component.reading import DocCase, cases_of_doc, check, scene_of_doc
from nfh_models.domain import Kind
from nfh_models.identification.case import Decision, Identifier
from nfh_models.identification.deciding import decide
from nfh_models.identification.recipes import RULES, RecipeError
from nfh_models.parsing.parsed import Layer, Parsed
from nfh_models.resolution import cues, deterministic
from nfh_models.resolution.cue_place import Scene

FACTORY = "nfh"
CUES = "cues"
NONE = "none"
RESOLVERS = (CUES, NONE)

ErrorHandler = Callable[[str, "NumericFusedHeads", list[Doc], Exception], object]


@Language.factory(
    FACTORY,
    default_config={"identifier": RULES, "resolver": CUES},
    assigns=assigned(),
    requires=["token.dep"],  # and token.pos, but spaCy knows of no component that gives it
)
def make_component(
    nlp: Language,  # noqa: ARG001 - spaCy hands it to every factory
    name: str,
    identifier: str,
    resolver: str,
) -> "NumericFusedHeads":
    """What `nlp.add_pipe("nfh", config={...})` calls.

    identifier: "rules", or a model's folder. resolver: "cues", or "none" for identification
    alone. Raises RecipeError for another resolver.
    """
    return NumericFusedHeads(name, identifier=identifier, resolver=resolver)


class NumericFusedHeads:
    """The component. The identifier is loaded when first used."""

    def __init__(self, name: str, *, identifier: str = RULES, resolver: str = CUES) -> None:
        register()
        self.name = name
        self._settings = _checked(Settings(identifier=identifier, resolver=resolver))
        self._files: dict[str, bytes] = {}
        self._files_from = ""
        self._loaded: Identifier | None = None
        self._on_error: ErrorHandler = _raise

    # --- what spaCy calls -------------------------------------------------------------------

    def __call__(self, doc: Doc) -> Doc:
        """Find and resolve the fused heads of a Doc.

        Raises ParserError for one without the tags and arcs that are needed, ModelFileError or
        RecipeError for an identifier that does not load.
        """
        for _ in self._done([doc]):
            pass
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """The same for many Docs, decided a batch at a time.

        Raises ModelFileError or RecipeError for an identifier that does not load: that is no
        Doc's fault, and no error handler hears of it.
        """
        self._identifier()
        docs = iter(stream)
        while batch := list(islice(docs, batch_size)):
            try:
                done = list(self._done(batch))
            except Exception:  # noqa: BLE001 - one by one, so that the right Doc is blamed
                done = list(self._one_by_one(batch))
            yield from done

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]] | None = None,  # noqa: ARG002
        *,
        nlp: Language | None = None,
    ) -> None:
        """Load the identifier, and look whether the pipeline gives what it needs.

        Raises RecipeError or ModelFileError, as the first use would.
        """
        needs = self._needs()
        if nlp is None:
            return
        given = {what for name in nlp.pipe_names for what in nlp.get_pipe_meta(name).assigns}
        if Layer.DEPENDENCY in needs and "token.dep" not in given:
            raise RecipeError(
                f"the component {self.name!r} needs a parser before it in the pipeline, and "
                f"this one has {', '.join(nlp.pipe_names)}"
            )

    def set_error_handler(self, error_handler: ErrorHandler) -> None:
        """What `pipe` does with a Doc that fails; without it, it raises."""
        self._on_error = error_handler

    def get_error_handler(self) -> ErrorHandler:
        """The handler that was set, or one that raises."""
        return self._on_error

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write settings and the model's files into a folder. exclude: "cfg", "identifier"."""
        write_state(Path(path), self._state(exclude))

    def from_disk(
        self, path: str | Path, *, exclude: Iterable[str] = ()
    ) -> "NumericFusedHeads":
        """Take what `to_disk` wrote. Raises ModelFileError for what does not hold."""
        return self._take(read_state(Path(path)), exclude, str(Path(path) / IDENTIFIER))

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Settings and the model's files as bytes. exclude: "cfg", "identifier"."""
        return encode(self._state(exclude))

    def from_bytes(self, content: bytes, *, exclude: Iterable[str] = ()) -> "NumericFusedHeads":
        """Take what `to_bytes` gave. Raises ModelFileError for what does not hold."""
        return self._take(decode(content), exclude, f"the model of the component {self.name!r}")

    # --- the work ---------------------------------------------------------------------------

    def _done(self, docs: Sequence[Doc]) -> Iterator[Doc]:
        needs = self._needs()
        for doc in docs:
            check(doc, needs, self.name)
        found = [list(cases_of_doc(doc)) for doc in docs]
        cases = (one.case for of_doc in found for one in of_doc)
        decisions = (decision for _, decision in decide(cases, self._identifier(), None))
        for doc, of_doc in zip(docs, found, strict=True):
            store(doc, self._anchors(doc, list(zip(of_doc, decisions, strict=False))))
            yield doc

    def _one_by_one(self, docs: Sequence[Doc]) -> Iterator[Doc]:
        for doc in docs:
            try:
                self(doc)
            except Exception as error:  # noqa: BLE001 - spaCy's own handler decides
                self._on_error(self.name, self, [doc], error)
            else:
                yield doc

    def _anchors(self, doc: Doc, decided: Sequence[tuple[DocCase, Decision]]) -> list[Anchor]:
        heads = [(case, decision) for case, decision in decided if decision.nfh]
        if not heads:
            return []
        if self._settings.resolver == NONE:
            return [Anchor(case.start, case.end, made.rule) for case, made in heads]
        scene, places, tokens = scene_of_doc(doc)
        return [_resolved(case, made.rule, scene, places, tokens) for case, made in heads]

    def _needs(self) -> frozenset[Layer]:
        needs = self._identifier().needs
        return needs | {Layer.POS} if self._settings.resolver == CUES else needs

    def _identifier(self) -> Identifier:
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded

    def _load(self) -> Identifier:
        if self._files:
            return from_files(self._files, self._files_from)
        return from_setting(self._settings.identifier, self.name)

    def _state(self, exclude: Iterable[str]) -> State:
        left_out = set(exclude)
        files: Mapping[str, bytes] | None = self._files
        if IDENTIFIER in left_out:
            files = None
        elif not files and self._settings.identifier != RULES:
            files = read_files(Path(self._settings.identifier))
        return State(None if CFG in left_out else self._settings, files)

    def _take(self, state: State, exclude: Iterable[str], origin: str) -> "NumericFusedHeads":
        """origin: where the model's files are from, in words."""
        left_out = set(exclude)
        files = {} if IDENTIFIER in left_out else state.files or {}
        if state.settings is not None and CFG not in left_out:
            self._settings = _checked(state.settings)
            self._files = {}
            if self._settings.identifier == RULES:
                files = {}
        if files:
            self._files, self._files_from = dict(files), origin
        self._loaded = None
        return self


def _checked(settings: Settings) -> Settings:
    if not settings.identifier:
        raise RecipeError(
            f"the component nfh has an empty identifier: use {RULES}, or a model's folder"
        )
    if settings.resolver not in RESOLVERS:
        raise RecipeError(
            f"{settings.resolver!r} is no resolver of the component nfh: use "
            f"{' or '.join(RESOLVERS)}"
        )
    return settings


def _resolved(
    case: DocCase, rule: str, scene: Scene, places: dict[int, int], tokens: Sequence[int]
) -> Anchor:
    """The anchor with its heads: by a pattern if there is one that names them, else by cues."""
    start, end = case.start, case.end
    parsed = case.case.parsed
    pattern = None
    if parsed is not None and _has_arcs(parsed):
        pattern = deterministic.find(parsed, case.case.start, case.case.end)
    if pattern is not None and pattern.kind is Kind.PEOPLE:
        return Anchor(start, end, rule, (Kind.PEOPLE.value,), pattern.name, deterministic=True)
    if pattern is not None and pattern.heads:
        named = tuple(case.tokens[head] for head in pattern.heads)
        return Anchor(start, end, rule, named, pattern.name, deterministic=True)
    found = cues.resolve(scene, places[start], places[end - 1] + 1)
    head = found.kind.value if found.token is None else tokens[found.token]
    return Anchor(start, end, rule, (head,), found.cue)


def _has_arcs(parsed: Parsed) -> bool:
    return len(parsed.heads) == len(parsed.words) == len(parsed.pos)


def _raise(
    _name: str, _component: "NumericFusedHeads", _docs: list[Doc], error: Exception
) -> None:
    raise error
