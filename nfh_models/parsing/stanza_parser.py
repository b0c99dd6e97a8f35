"""Stanza's models from a folder as a parser: part of speech, lemma, dependency, constituency.

Nothing is downloaded, nothing written to the folder, and no model that can run code is
opened (`stanza_weights`). Runs on the processor.
"""

import json
import logging
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nfh_models.parsing.parsed import Layer, Parsed, ParserError, Tree
from nfh_models.parsing.pieces import STAND_IN, Piece, batches, groups
from nfh_models.parsing.pipelines import first_line
from nfh_models.parsing.stanza_files import LANGUAGE, StanzaFolder, find_models
from nfh_models.parsing.stanza_weights import Part
from nfh_models.parsing.stretch import Stretch

LONGEST = 100
"""Tokens of a piece. The dependency parser scores every pair of tokens, so that memory grows
with the square."""

BATCH = 3000
"""Tokens parsed together."""

_LAYERS = {
    Part.POS: Layer.POS,
    Part.LEMMA: Layer.LEMMA,
    Part.DEPPARSE: Layer.DEPENDENCY,
    Part.CONSTITUENCY: Layer.CONSTITUENCY,
}
_PATHS = {
    Part.PRETRAIN: "pretrain_path",
    Part.FORWARD: "forward_charlm_path",
    Part.BACKWARD: "backward_charlm_path",
}


class StanzaParser:
    """Stanza's models of one folder. A stretch is parsed as one sentence, a long one in pieces.

    name: "stanza 1.15.0 FOLDER 3fa2b1c9", with a digest of the models' files.
    """

    def __init__(self, pipeline: Any, name: str, layers: frozenset[Layer]) -> None:  # noqa: ANN401
        self.name = name
        self.layers = layers
        self._pipeline = pipeline

    def parse(self, stretches: Iterable[Stretch]) -> Iterator[Parsed]:
        """One parse a stretch, in order; of a long one, one root and one tree a piece.

        Words that a parser cannot see (white space, control characters) are parsed as "_" and
        keep themselves as lemma. Raises ParserError where stanza fails.
        """
        for waiting, pieces in batches(stretches, LONGEST, BATCH):
            results = [_Result(stretch, self.layers) for stretch in waiting]
            for group in groups(pieces, BATCH):
                for piece, sentence in zip(group, self._process(group), strict=True):
                    results[piece.stretch].add(piece, sentence)
            for result in results:
                yield result.parsed()

    def _process(self, pieces: Sequence[Piece]) -> list[Any]:
        from stanza import Document

        document = Document(
            [
                [{"id": (place,), "text": word} for place, word in enumerate(piece.words, 1)]
                for piece in pieces
            ]
        )
        with quiet():
            try:
                done = self._pipeline.process(document)
            except Exception as error:  # whatever a model from elsewhere does
                raise ParserError(
                    f"{self.name} cannot parse a sentence ({first_line(error)})"
                ) from error
        sentences: list[Any] = list(done.sentences)
        return sentences


class _Result:
    """The layers of one stretch, put together piece by piece."""

    def __init__(self, stretch: Stretch, layers: frozenset[Layer]) -> None:
        self.stretch = stretch
        self.layers = layers
        self.pos: list[str] = []
        self.tags: list[str] = []
        self.lemmas: list[str] = []
        self.heads: list[int] = []
        self.relations: list[str] = []
        self.trees: list[Tree] = []

    def add(self, piece: Piece, sentence: Any) -> None:  # noqa: ANN401
        """Take over what stanza says of a piece."""
        words = sentence.words
        self.pos += [word.upos or "X" for word in words]
        self.tags += [word.xpos or "" for word in words]
        if Layer.LEMMA in self.layers:
            given = self.stretch.words[piece.start : piece.end]
            for word, seen, original in zip(words, piece.words, given, strict=True):
                self.lemmas.append(original if seen == STAND_IN else word.lemma or original)
        if Layer.DEPENDENCY in self.layers:
            for place, word in enumerate(words):
                self.heads.append(piece.start + (word.head - 1 if word.head else place))
                self.relations.append((word.deprel or "dep").lower())
        if Layer.CONSTITUENCY in self.layers:
            tags = [word.xpos or word.upos or "X" for word in words]
            self.trees.append(tree_of(sentence.constituency, piece.start, tags))

    def parsed(self) -> Parsed:
        """All layers."""
        return Parsed(
            words=self.stretch.words,
            pos=self.pos,
            tags=self.tags,
            lemmas=self.lemmas,
            heads=self.heads,
            relations=self.relations,
            trees=self.trees,
        )


def tree_of(tree: Any, start: int, tags: Sequence[str]) -> Tree:  # noqa: ANN401
    """Stanza's tree as ours, over tokens from `start` on; without recursion, for deep ones.

    tags: of the tokens, which label the leaves; some of stanza's models have universal parts
    of speech there. Raises ParserError for a tree of more or fewer leaves.
    """
    length = len(tags)
    place = start
    built: list[Tree] = []
    todo: list[tuple[Any, bool]] = [(tree, False)]
    while todo:
        node, ready = todo.pop()
        if node.is_preterminal():
            tag = tags[place - start] if place - start < length else node.label
            built.append(Tree(tag, place, place + 1))
            place += 1
        elif not ready:
            todo.append((node, True))
            todo += [(child, False) for child in reversed(node.children)]
        else:
            count = len(node.children)
            children = tuple(built[-count:])
            built[-count:] = [
                Tree(plain_label(node.label), children[0].start, children[-1].end, children)
            ]
    if place - start != length or len(built) != 1:
        raise ParserError(f"stanza gave a tree of {place - start} words for {length}")
    return built[0]


def plain_label(label: str) -> str:
    """A phrase's label without functions but -TMP: "NP-SBJ-1" is "NP", "NP-TMP" stays."""
    first, *functions = label.replace("=", "-").split("-")
    if not first:
        return label
    return f"{first}-TMP" if "TMP" in functions else first


def load_stanza(
    folder: Path, wanted: frozenset[Layer], threads: int | None = 1
) -> StanzaParser:
    """The English models of a folder, loaded; every layer that the folder has.

    wanted: layers that it must give. threads: how many torch may use, in this process as a
    whole, so that several processes do not get in each other's way; None leaves it as it is.
    Raises ParserError, whose sentence names what is missing, damaged or not safe to open.
    """
    try:
        with quiet():
            import stanza
            import torch
    except ImportError as error:
        raise ParserError(
            f"stanza cannot be loaded ({error}): `pip install stanza` installs it"
        ) from error
    with quiet():
        found = find_models(folder)
    _require(found, wanted)
    if threads is not None:
        torch.set_num_threads(threads)
    layers = frozenset(_LAYERS[part] for part in found.models)
    name = f"stanza {stanza.__version__} {folder.resolve().name} {found.digest}"
    return StanzaParser(_pipeline(found), name, layers)


def _require(found: StanzaFolder, wanted: frozenset[Layer]) -> None:
    """Raise ParserError unless the folder has what is needed."""
    needed = {Layer.POS, *wanted}
    missing = [part for part, layer in _LAYERS.items() if layer in needed]
    missing = [part for part in missing if part not in found.models]
    if missing:
        present = ", ".join(sorted(found.models)) or "none"
        raise ParserError(
            f"the folder {found.folder} has no stanza model of the kind "
            f"{' and none of the kind '.join(missing)} (it has: {present})"
        )


def _pipeline(found: StanzaFolder) -> Any:  # noqa: ANN401
    """Stanza's pipeline over these very files, without its network and its own folder.

    A pipeline wants a list of stanza's packages; an empty one is written elsewhere for it.
    """
    from stanza import Pipeline

    settings: dict[str, object] = {}
    for part, model in found.models.items():
        settings[f"{part}_model_path"] = str(model.path)
        for need, path in model.support.items():
            settings[f"{part}_{_PATHS[need]}"] = str(path)
    if Part.LEMMA not in found.models:
        settings["lemma_use_identity"] = True
    with tempfile.TemporaryDirectory(prefix="nfh-stanza-") as scratch, quiet():
        resources = Path(scratch) / "resources.json"
        resources.write_text(json.dumps({}), "utf-8")
        try:
            return Pipeline(
                lang=LANGUAGE,
                dir=scratch,
                package=None,
                processors=dict.fromkeys(["tokenize", Part.LEMMA, *found.models], "default"),
                download_method=None,
                resources_filepath=str(resources),
                allow_unknown_language=True,
                use_gpu=False,
                tokenize_pretokenized=True,
                **settings,
            )
        except Exception as error:  # whatever a damaged model does
            raise ParserError(
                f"stanza cannot load the models of {found.folder} ({first_line(error)})"
            ) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Stanza and torch say nothing while this holds: what fails is said by our errors."""
    logger = logging.getLogger("stanza")
    before = logger.disabled
    logger.disabled = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.disabled = before
