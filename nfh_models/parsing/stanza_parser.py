"""Stanza's models in a folder as a parser, loaded without running any code in the files.

Nothing is downloaded, nothing is written to the folder, and no model that can run code is
opened. It runs on the CPU.
"""

import hashlib
import json
import logging
import shlex
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from nfh_models.parsing.base import (
    STAND_IN,
    Parsed,
    ParseLayer,
    ParserError,
    ParserPiece,
    Tree,
    WordSpan,
    in_pieces,
)
from nfh_models.parsing.spacy_parser import first_line

# A .pt file is a pickle, which can run code when it is loaded. Each file is first read with
# torch's weights_only, which builds tensors and plain containers and refuses anything else
# (https://docs.pytorch.org/docs/stable/generated/torch.load.html); stanza gets only a folder
# whose files all pass. Stanza 1.15 reads in the same way; older releases unpickled what that
# refuses.

_PICKLED_DICTIONARY = 2
"""`dicts_version` of lemmatizers that contain a pickle, as some older stanza wrote them; stanza
1.15 refuses them too.
"""


class StanzaModelKind(StrEnum):
    """A kind of model file, by the name of its folder in stanza's layout, which is also part of
    the names of stanza's settings.
    """

    POS = "pos"
    LEMMA = "lemma"
    DEPPARSE = "depparse"
    CONSTITUENCY = "constituency"
    PRETRAIN = "pretrain"
    FORWARD = "forward_charlm"
    BACKWARD = "backward_charlm"


SUPPORT = {
    StanzaModelKind.PRETRAIN: "wordvec_pretrain_file",
    StanzaModelKind.FORWARD: "charlm_forward_file",
    StanzaModelKind.BACKWARD: "charlm_backward_file",
}
"""What a model's configuration calls the files that it was trained with."""


def read_weights(path: Path) -> Mapping[str, Any]:
    """The tensors and plain values of a .pt file; no code in it is run.

    Raises ParserError for a file that is damaged or holds anything else.
    """
    import pickle

    import torch

    _check_packed(path)
    try:
        weights = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise ParserError(
            f"{path} is damaged or holds more than weights; it was not opened, because such a "
            "file can run code"
        ) from error
    except Exception as error:  # a damaged file makes the reader raise anything
        raise ParserError(
            f"{path} cannot be read as a model of stanza: download it again "
            f"({first_line(error)})"
        ) from error
    if not isinstance(weights, dict):
        raise ParserError(f"{path} is not a model of stanza")
    return weights


def _check_packed(path: Path) -> None:
    """Raise ParserError for compressed members: torch writes none, but unpacks them to as much
    as a thousand times their size.
    """
    try:
        with zipfile.ZipFile(path) as parts:
            packed = [
                one for one in parts.infolist() if one.compress_type != zipfile.ZIP_STORED
            ]
    except (zipfile.BadZipFile, OSError):
        return  # torch says what is wrong, or reads its form of old
    if packed:
        raise ParserError(
            f"{path} has a compressed part, which torch never writes: copy or download it again"
        )


def kind_of(weights: Mapping[str, Any]) -> StanzaModelKind | None:
    """The kind of a file of weights; None for a file that is not used here."""
    vocabulary = weights.get("vocab")
    keys = set(vocabulary) if isinstance(vocabulary, dict) else set()
    if "dicts" in weights:
        return StanzaModelKind.LEMMA
    if "deprel" in keys:
        return StanzaModelKind.DEPPARSE
    if "upos" in keys:
        return StanzaModelKind.POS
    if "emb" in weights:
        return StanzaModelKind.PRETRAIN
    params = weights.get("params")
    if isinstance(params, dict) and "transitions" in params:
        return StanzaModelKind.CONSTITUENCY
    inner = weights.get("model", weights)
    forward = inner.get("is_forward_lm") if isinstance(inner, dict) else None
    forward = weights.get("is_forward_lm", forward)
    if forward is None:
        return None
    return StanzaModelKind.FORWARD if forward else StanzaModelKind.BACKWARD


def config_of(weights: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = weights.get("params", weights)
    config = inner.get("config") if isinstance(inner, dict) else None
    return config if isinstance(config, dict) else {}


def needs(need: StanzaModelKind, part: StanzaModelKind, weights: Mapping[str, Any]) -> bool:
    """Whether a model cannot be loaded without word vectors or a character model.

    A lemmatizer may contain classifiers for words such as 's, which have needs of their own.
    """
    config = config_of(weights)
    inner = [one.get("args", {}) for one in weights.get("contextual") or ()]
    if need is StanzaModelKind.PRETRAIN:
        if part is StanzaModelKind.LEMMA:
            return bool(inner)
        return bool(config.get(SUPPORT[need])) and bool(config.get("pretrain", True))
    own = bool(config.get("charlm", part is StanzaModelKind.CONSTITUENCY)) and bool(
        config.get(SUPPORT[need])
    )
    return own or any(args.get("use_charlm") for args in inner)


def refuse_foreign(path: Path, weights: Mapping[str, Any]) -> None:
    """Raise ParserError for a model that needs files elsewhere or contains a pickle."""
    transformer = _transformer(weights)
    if transformer is not None:
        raise ParserError(
            f"{path} needs the transformer {transformer}, which is not on this machine: use "
            "the package of that model without a transformer"
        )
    if weights.get("dicts_version") == _PICKLED_DICTIONARY:
        raise ParserError(
            f"{path} has its dictionary as a pickle, which is not opened: use the lemmatizer "
            "of a newer stanza"
        )


def _transformer(part: object) -> str | None:
    """The transformer that a model, or one inside it, names; None if none does."""
    todo = [part]
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            if one.get("bert_model"):
                return str(one["bert_model"])
            todo += [value for key, value in one.items() if key != "vocab"]
        elif isinstance(one, (list, tuple)) and one and isinstance(one[0], dict):
            todo += one
    return None


# Two layouts of folders are supported: stanza's own, FOLDER/resources.json and
# FOLDER/en/pos/NAME.pt, en/lemma, en/depparse, en/constituency, en/pretrain, en/forward_charlm,
# en/backward_charlm (or the folder "en" itself); and a plain folder of .pt files, whose kinds
# are told by their content.

LANGUAGE = "en"
SUFFIX = ".pt"

PROCESSORS = {
    StanzaModelKind.POS: ParseLayer.POS,
    StanzaModelKind.LEMMA: ParseLayer.LEMMA,
    StanzaModelKind.DEPPARSE: ParseLayer.DEPENDENCY,
    StanzaModelKind.CONSTITUENCY: ParseLayer.CONSTITUENCY,
}
"""What each model gives."""

_NAMED = {
    StanzaModelKind.POS: "taggers",
    StanzaModelKind.LEMMA: "lemmatizers",
    StanzaModelKind.DEPPARSE: "dependency parsers",
    StanzaModelKind.CONSTITUENCY: "constituency parsers",
    StanzaModelKind.PRETRAIN: "files of word vectors",
    StanzaModelKind.FORWARD: "forward character models",
    StanzaModelKind.BACKWARD: "backward character models",
}


@dataclass(frozen=True)
class StanzaModel:
    """A model file with the files that it needs."""

    path: Path
    support: Mapping[StanzaModelKind, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class StanzaFolder:
    """The checked models of a folder. digest: 8 hex digits of the files' SHA-256."""

    folder: Path
    models: Mapping[StanzaModelKind, StanzaModel]
    digest: str


def find_models(folder: Path) -> StanzaFolder:
    """The models in a folder, one of each kind, each safe to load.

    Raises ParserError, which names folder or file: no such folder, none in it, several of a
    kind, a damaged file, one that holds more than weights, a missing part.
    """
    if not folder.is_dir():
        raise ParserError(
            f"there is no folder {folder} with stanza models. {how_to_get(folder)}"
        )
    base = folder / LANGUAGE if (folder / LANGUAGE).is_dir() else folder
    laid_out = any((base / part).is_dir() for part in PROCESSORS)
    found = _laid_out(folder, base) if laid_out else _plain(folder)
    if not any(part in found for part in PROCESSORS):
        raise ParserError(
            f"the folder {folder} holds no stanza model for English (.pt files). "
            f"{how_to_get(folder)}"
        )
    packages = _packages(folder, base) if laid_out else {}
    checked = set() if laid_out else {path for paths in found.values() for path in paths}
    models = {
        part: _with_support(part, found, packages, checked)
        for part in PROCESSORS
        if part in found
    }
    return StanzaFolder(folder, models, _digest(models))


def how_to_get(folder: Path) -> str:
    """The command that downloads stanza's own English models into a folder."""
    code = f"import stanza; stanza.download('en', model_dir={str(folder)!r})"
    quoted = shlex.quote(code) if set(code) & set('"$`\\!') else f'"{code}"'
    return f"Get stanza's own with `{sys.executable} -c {quoted}`."


def _plain(folder: Path) -> dict[StanzaModelKind, list[Path]]:
    """The .pt files directly in a folder, by kind."""
    found: dict[StanzaModelKind, list[Path]] = {}
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        part = kind_of(read_weights(path))
        if part is not None:
            found.setdefault(part, []).append(path)
    return found


def _laid_out(folder: Path, base: Path) -> dict[StanzaModelKind, list[Path]]:
    """The .pt files of stanza's own layout; of several models of a kind the default one."""
    preferred = _entry(_entry(_packages(folder, base), "packages"), "default")
    found: dict[StanzaModelKind, list[Path]] = {}
    for part in StanzaModelKind:
        paths = sorted((base / part).glob(f"*{SUFFIX}"))
        chosen = base / part / f"{preferred.get(part)}{SUFFIX}"
        if part in PROCESSORS and chosen in paths:
            paths = [chosen]
        if paths:
            found[part] = paths
    return found


def _packages(folder: Path, base: Path) -> dict[str, Any]:
    """The entry of English in resources.json; empty where it is missing or unreadable."""
    for place in (folder, base.parent):
        try:
            known = json.loads((place / "resources.json").read_text("utf-8"))[LANGUAGE]
            if isinstance(known, dict):
                return known
        except (OSError, ValueError, LookupError, TypeError):
            continue
    return {}


def _with_support(
    part: StanzaModelKind,
    found: Mapping[StanzaModelKind, list[Path]],
    packages: Mapping[str, Any],
    checked: set[Path],
) -> StanzaModel:
    """The only model of a kind and the files of the same folder that it needs.

    checked: files known to be safe, added to; word vectors are large, and several models need
    them.
    """
    path = _only(part, found[part])
    weights = read_weights(path)
    if kind_of(weights) is not part:
        raise ParserError(f"{path} is not a stanza model of the kind {part}")
    refuse_foreign(path, weights)
    config = config_of(weights)
    support = {}
    for need in SUPPORT:
        candidates = found.get(need, [])
        named = _dependency(packages, part, path.stem, need)
        candidates = [one for one in candidates if one.stem == named] or candidates
        if needs(need, part, weights):
            if not candidates:
                raise ParserError(
                    f"{path} needs one of stanza's {_NAMED[need]}, and there is none beside it"
                )
            support[need] = _only(need, _by_name(candidates, config, need))
            if support[need] not in checked:
                read_weights(support[need])
                checked.add(support[need])
    return StanzaModel(path, support)


def _only(part: StanzaModelKind, paths: list[Path]) -> Path:
    if len(paths) > 1:
        names = ", ".join(path.name for path in paths)
        raise ParserError(
            f"the folder {paths[0].parent} holds several {_NAMED[part]} ({names}): put the "
            "one to use into its own folder"
        )
    return paths[0]


def _dependency(
    packages: Mapping[str, Any], part: StanzaModelKind, name: str, need: StanzaModelKind
) -> str | None:
    """The package that resources.json names for a model's vectors or character model."""
    listed = _entry(_entry(packages, part), name).get("dependencies")
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and one.get("model") == need:
            return str(one.get("package"))
    return None


def _entry(listed: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = listed.get(key)
    return found if isinstance(found, dict) else {}


def _by_name(paths: list[Path], config: Mapping[str, Any], need: StanzaModelKind) -> list[Path]:
    """Of several files, the one whose name the model has from its training."""
    trained = Path(str(config.get(SUPPORT[need]) or "")).name
    return [path for path in paths if path.name == trained] or paths


def _digest(models: Mapping[StanzaModelKind, StanzaModel]) -> str:
    """SHA-256 over all files that are loaded, in a fixed order."""
    whole = hashlib.sha256()
    for part in sorted(models):
        for path in (models[part].path, *models[part].support.values()):
            with path.open("rb") as file:
                whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()[:8]


LONGEST = 100
"""Tokens of a piece. The dependency parser scores every pair of tokens, so that memory is
quadratic.
"""

BATCH = 3000
"""Tokens parsed together."""


class StanzaParser:
    """Stanza's models of one folder. A span is parsed as one sentence, a long one in pieces.

    name: "stanza 1.15.0 FOLDER 3fa2b1c9", with a digest of the models' files.
    """

    def __init__(self, pipeline: Any, name: str, layers: frozenset[ParseLayer]) -> None:  # noqa: ANN401
        self.name = name
        self.layers = layers
        self._pipeline = pipeline

    def parse(self, word_spans: Iterable[WordSpan]) -> Iterator[Parsed]:
        """One parse for each span, in order; a long span has one root and one tree for each
        piece.

        Words that a parser cannot see (white space, control characters) are parsed as "_" and
        keep themselves as lemma. Raises ParserError where stanza fails.
        """
        return in_pieces(word_spans, LONGEST, BATCH, self._parse)

    def _parse(
        self, pieces: Sequence[ParserPiece], word_spans: Sequence[WordSpan]
    ) -> list[Parsed]:
        from stanza import Document

        document = Document(
            [
                [{"id": (place,), "text": word} for place, word in enumerate(piece.words, 1)]
                for piece in pieces
            ]
        )
        with silence():
            try:
                done = self._pipeline.process(document)
            except Exception as error:  # whatever a model from elsewhere does
                raise ParserError(
                    f"{self.name} cannot parse a sentence ({first_line(error)})"
                ) from error
        return [
            _parsed(sentence, one, word_spans[one.span].words[one.start : one.end], self.layers)
            for sentence, one in zip(done.sentences, pieces, strict=True)
        ]


def _parsed(
    sentence: Any,  # noqa: ANN401
    piece: ParserPiece,
    given: Sequence[str],
    layers: frozenset[ParseLayer],
) -> Parsed:
    """The layers of a parsed piece. given: its words as they came."""
    words = sentence.words
    lemmas: list[str] = []
    heads: list[int] = []
    relations: list[str] = []
    trees: list[Tree] = []
    if ParseLayer.LEMMA in layers:
        for word, seen, original in zip(words, piece.words, given, strict=True):
            lemmas.append(original if seen == STAND_IN else word.lemma or original)
    if ParseLayer.DEPENDENCY in layers:
        heads = [word.head - 1 if word.head else place for place, word in enumerate(words)]
        relations = [(word.deprel or "dep").lower() for word in words]
    if ParseLayer.CONSTITUENCY in layers:
        leaves = [word.xpos or word.upos or "X" for word in words]
        trees = [tree_of(sentence.constituency, piece.start, leaves)]
    pos, tags = [word.upos or "X" for word in words], [word.xpos or "" for word in words]
    return Parsed(given, pos, tags, lemmas, heads, relations, trees)


def tree_of(tree: Any, start: int, tags: Sequence[str]) -> Tree:  # noqa: ANN401
    """Stanza's tree as ours, over tokens from `start` on; without recursion, for deep trees.

    tags: of the tokens, which label the leaves; some of stanza's models have universal parts of
    speech there. Raises ParserError for a tree with another number of leaves.
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
    """A phrase label without functions but -TMP: "NP-SBJ-1" gives "NP", "NP-TMP" stays."""
    first, *functions = label.replace("=", "-").split("-")
    if not first:
        return label
    return f"{first}-TMP" if "TMP" in functions else first


def load_stanza(folder: Path, wanted: frozenset[ParseLayer]) -> StanzaParser:
    """The English models of a folder, loaded, with every layer that the folder has.

    wanted: layers that it must give. Torch gets one thread in this process, so that several
    processes do not slow each other down. Raises ParserError, whose message names what is
    missing, damaged or unsafe to open.
    """
    try:
        with silence():
            import stanza
            import torch
    except ImportError as error:
        raise ParserError(
            f"stanza cannot be loaded ({error}): `pip install stanza` installs it"
        ) from error
    with silence():
        found = find_models(folder)
    _require(found, wanted)
    torch.set_num_threads(1)
    layers = frozenset(PROCESSORS[part] for part in found.models)
    name = f"stanza {stanza.__version__} {folder.resolve().name} {found.digest}"
    return StanzaParser(_pipeline(found), name, layers)


def _require(found: StanzaFolder, wanted: frozenset[ParseLayer]) -> None:
    """Raise ParserError unless the folder has the layers."""
    needed = {ParseLayer.POS, *wanted}
    missing = [part for part, layer in PROCESSORS.items() if layer in needed]
    missing = [part for part in missing if part not in found.models]
    if missing:
        present = ", ".join(sorted(found.models)) or "none"
        raise ParserError(
            f"the folder {found.folder} has no stanza model of the kind "
            f"{' and none of the kind '.join(missing)} (it has: {present})"
        )


def _pipeline(found: StanzaFolder) -> Any:  # noqa: ANN401
    """Stanza's pipeline over these files, without network and without its own folder.

    A pipeline requires a list of stanza's packages; an empty one is written to a temporary
    folder.
    """
    from stanza import Pipeline

    settings: dict[str, object] = {}
    for part, model in found.models.items():
        settings[f"{part}_model_path"] = str(model.path)
        for need, path in model.support.items():
            settings[f"{part}_{need}_path"] = str(path)
    if StanzaModelKind.LEMMA not in found.models:
        settings["lemma_use_identity"] = True
    with tempfile.TemporaryDirectory(prefix="nfh-stanza-") as scratch, silence():
        resources = Path(scratch) / "resources.json"
        resources.write_text(json.dumps({}), "utf-8")
        try:
            return Pipeline(
                lang=LANGUAGE,
                dir=scratch,
                package=None,
                processors=dict.fromkeys(
                    ["tokenize", StanzaModelKind.LEMMA, *found.models], "default"
                ),
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
def silence() -> Iterator[None]:
    """Silence stanza and torch: failures are reported by our own errors."""
    logger = logging.getLogger("stanza")
    before = logger.disabled
    logger.disabled = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.disabled = before
