"""The spaCy component: `nlp.add_pipe("nfh")`, for English pipelines of spaCy 3.8.

It finds the numbers of a Doc, decides with a recipe of identification which of them miss their
noun, and says what the noun is: by the paper's four patterns (section 5.1) where those are sure
(`nfh_models.resolution.pattern_first`), else by cues (`nfh_models.resolution.cues`) or a model.
The attributes stand in `attributes`.

    import spacy
    nlp = spacy.load("en_core_web_sm")
    nlp.add_pipe("nfh")
    for span in nlp("I have two dogs and she has three.")._.nfh:
        print(span, span._.nfh_head)
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from nfh_models.component.attributes import assigned, register, store
from nfh_models.component.files import (
    CFG,
    IDENTIFIER,
    RESOLVER,
    Files,
    Settings,
    State,
    decode,
    encode,
    read_files,
    read_state,
    write_state,
)
from nfh_models.component.models import (
    CUES,
    IDENTIFIERS,
    NOTHING,
    RESOLVERS,
    RULES,
    Kept,
    Models,
    load,
)
from nfh_models.component.reading import cases_of_doc, check
from nfh_models.component.resolving import Open, resolved
from nfh_models.identification.deciding import decide
from nfh_models.identification.recipes import RecipeError
from nfh_models.parsing.parsed import Layer

FACTORY = "nfh"

ErrorHandler = Callable[[str, "NumericFusedHeads", list[Doc], Exception], object]


@Language.factory(
    FACTORY,
    default_config={"identifier": RULES, "resolver": CUES},
    assigns=assigned(),
    # What is required depends on the settings: `initialize` looks.
)
def make_component(
    nlp: Language,  # noqa: ARG001 - spaCy hands it to every factory
    name: str,
    identifier: str,
    resolver: str,
) -> "NumericFusedHeads":
    """What `nlp.add_pipe("nfh", config={...})` calls.

    identifier: "rules", "small", or a model's folder. resolver: "cues", "small", a model's
    folder, or "none" for identification alone. Raises RecipeError for an empty one.
    """
    return NumericFusedHeads(name, identifier=identifier, resolver=resolver)


class NumericFusedHeads:
    """The component. The models are loaded when first used."""

    def __init__(self, name: str, *, identifier: str = RULES, resolver: str = CUES) -> None:
        register()
        self.name = name
        self._settings = _checked(Settings(identifier=identifier, resolver=resolver))
        self._kept = {IDENTIFIER: NOTHING, RESOLVER: NOTHING}
        self._loaded: Models | None = None
        self._on_error: ErrorHandler = _raise

    def __getstate__(self) -> dict[str, object]:
        """All but the models: a new process loads its own."""
        return self.__dict__ | {"_loaded": None}

    # --- what spaCy calls -------------------------------------------------------------------

    def __call__(self, doc: Doc) -> Doc:
        """Find and resolve the fused heads of a Doc.

        Raises ParserError for one without the tags and arcs that are needed, ModelFileError or
        RecipeError for a model that does not load.
        """
        for _ in self._done([doc]):
            pass
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """The same for many Docs, decided a batch at a time.

        Raises ModelFileError or RecipeError for a model that does not load: that is no
        Doc's fault, and no error handler hears of it.
        """
        self._models()
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
        """Load the models, and look whether the pipeline gives what it needs.

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
        """Write settings and the models' files into a folder.

        exclude: "cfg", "identifier", "resolver".
        """
        write_state(Path(path), self._state(exclude))

    def from_disk(
        self, path: str | Path, *, exclude: Iterable[str] = ()
    ) -> "NumericFusedHeads":
        """Take what `to_disk` wrote. Raises ModelFileError for what does not hold."""
        origins = {what: str(Path(path) / what) for what in self._kept}
        return self._take(read_state(Path(path)), exclude, origins)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Settings and the models' files as bytes. exclude: as of `to_disk`."""
        return encode(self._state(exclude))

    def from_bytes(self, content: bytes, *, exclude: Iterable[str] = ()) -> "NumericFusedHeads":
        """Take what `to_bytes` gave. Raises ModelFileError for what does not hold."""
        origin = f"the model of the component {self.name!r}"
        return self._take(decode(content), exclude, dict.fromkeys(self._kept, origin))

    # --- the work ---------------------------------------------------------------------------

    def _done(self, docs: Sequence[Doc]) -> Iterator[Doc]:
        models, needs = self._models(), self._needs()
        for doc in docs:
            check(doc, needs, self.name)
        found = [list(cases_of_doc(doc)) for doc in docs]
        cases = (one.case for of_doc in found for one in of_doc)
        decided = (decision for _, decision in decide(cases, models.identifier, None))
        open_ = [
            [
                Open(one, said.rule)
                for one, said in zip(of_doc, decided, strict=False)
                if said.nfh
            ]
            for of_doc in found
        ]
        anchors = resolved(docs, open_, self._settings.resolver, models.resolver)
        for doc, of_doc in zip(docs, anchors, strict=True):
            store(doc, of_doc)
            yield doc

    def _one_by_one(self, docs: Sequence[Doc]) -> Iterator[Doc]:
        for doc in docs:
            try:
                self(doc)
            except Exception as error:  # noqa: BLE001 - spaCy's own handler decides
                self._on_error(self.name, self, [doc], error)
            else:
                yield doc

    def _needs(self) -> frozenset[Layer]:
        models = self._models()
        needs = models.identifier.needs
        if models.resolver is not None:
            return needs | models.resolver.needs
        return needs | {Layer.POS} if self._settings.resolver == CUES else needs

    def _models(self) -> Models:
        if self._loaded is None or not self._loaded.here:
            kept = self._kept
            self._loaded = load(self.name, self._settings, kept[IDENTIFIER], kept[RESOLVER])
        return self._loaded

    def _state(self, exclude: Iterable[str]) -> State:
        left_out = set(exclude)
        settings = self._settings
        files = {
            IDENTIFIER: self._files(IDENTIFIER, settings.identifier, IDENTIFIERS),
            # A model that does both is kept once.
            RESOLVER: {}
            if settings.resolver == settings.identifier
            else self._files(RESOLVER, settings.resolver, RESOLVERS),
        }
        return State(
            None if CFG in left_out else settings,
            None if IDENTIFIER in left_out else files[IDENTIFIER],
            None if RESOLVER in left_out else files[RESOLVER],
        )

    def _files(self, what: str, setting: str, recipes: Sequence[str]) -> Files:
        kept = self._kept[what].files
        if kept or setting in recipes:
            return kept
        return read_files(Path(setting))

    def _take(
        self, state: State, exclude: Iterable[str], origins: dict[str, str]
    ) -> "NumericFusedHeads":
        """origins: where the models' files are from, in words."""
        left_out = set(exclude)
        files = {IDENTIFIER: state.files, RESOLVER: state.resolver}
        taken = {what: {} if what in left_out else found or {} for what, found in files.items()}
        if state.settings is not None and CFG not in left_out:
            self._settings = _checked(state.settings)
            self._kept = dict.fromkeys(self._kept, NOTHING)
            if self._settings.identifier in IDENTIFIERS:
                taken[IDENTIFIER] = {}
            if self._settings.resolver in RESOLVERS:
                taken[RESOLVER] = {}
        for what, found in taken.items():
            if found:
                self._kept[what] = Kept(dict(found), origins[what])
        self._loaded = None
        return self


def _checked(settings: Settings) -> Settings:
    for what, setting, recipes in (
        ("identifier", settings.identifier, IDENTIFIERS),
        ("resolver", settings.resolver, RESOLVERS),
    ):
        if not setting:
            raise RecipeError(
                f"the component nfh has an empty {what}: use {', '.join(recipes)}, or a "
                "model's folder"
            )
    return settings


def _raise(
    _name: str, _component: "NumericFusedHeads", _docs: list[Doc], error: Exception
) -> None:
    raise error
