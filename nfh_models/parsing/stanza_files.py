"""Which stanza models are in a folder, and whether they may be loaded.

Two layouts are understood. Stanza's own: FOLDER/resources.json and FOLDER/en/pos/NAME.pt,
en/lemma, en/depparse, en/constituency, en/pretrain, en/forward_charlm, en/backward_charlm (or
the folder "en" itself). And a plain folder of .pt files, each told by what it holds.

Every file is checked before stanza gets it (`stanza_weights`).
"""

import hashlib
import json
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nfh_models.parsing.parsed import ParserError
from nfh_models.parsing.stanza_weights import (
    Part,
    config_of,
    kind_of,
    needs,
    read_weights,
    refuse_foreign,
)

LANGUAGE = "en"
SUFFIX = ".pt"

PROCESSORS = (Part.POS, Part.LEMMA, Part.DEPPARSE, Part.CONSTITUENCY)
SUPPORT = (Part.PRETRAIN, Part.FORWARD, Part.BACKWARD)
_NAMED = {
    Part.POS: "taggers",
    Part.LEMMA: "lemmatizers",
    Part.DEPPARSE: "dependency parsers",
    Part.CONSTITUENCY: "constituency parsers",
    Part.PRETRAIN: "files of word vectors",
    Part.FORWARD: "forward character models",
    Part.BACKWARD: "backward character models",
}


@dataclass(frozen=True)
class StanzaModel:
    """A model file with the files that it needs beside it."""

    path: Path
    support: Mapping[Part, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class StanzaFolder:
    """The models of a folder, checked. digest: of the files' bytes, 8 hex digits."""

    folder: Path
    models: Mapping[Part, StanzaModel]
    digest: str


def find_models(folder: Path) -> StanzaFolder:
    """The models in a folder, one a kind, each of them safe to load.

    Raises ParserError, which names folder or file: no such folder, none in it, several of a
    kind, a damaged file, one that holds more than weights, a part that is missing.
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
    """Which command gets stanza's own English models into a folder."""
    code = f"import stanza; stanza.download('en', model_dir={str(folder)!r})"
    quoted = shlex.quote(code) if set(code) & set('"$`\\!') else f'"{code}"'
    return f"Get stanza's own with `{sys.executable} -c {quoted}`."


def _plain(folder: Path) -> dict[Part, list[Path]]:
    """The .pt files right in a folder, by kind."""
    found: dict[Part, list[Path]] = {}
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        part = kind_of(read_weights(path))
        if part is not None:
            found.setdefault(part, []).append(path)
    return found


def _laid_out(folder: Path, base: Path) -> dict[Part, list[Path]]:
    """The .pt files of stanza's own layout; of several models of a kind the default one."""
    preferred = _entry(_entry(_packages(folder, base), "packages"), "default")
    found: dict[Part, list[Path]] = {}
    for part in Part:
        paths = sorted((base / part).glob(f"*{SUFFIX}"))
        chosen = base / part / f"{preferred.get(part)}{SUFFIX}"
        if part in PROCESSORS and chosen in paths:
            paths = [chosen]
        if paths:
            found[part] = paths
    return found


def _packages(folder: Path, base: Path) -> dict[str, Any]:
    """What resources.json says of English; empty where it is not there or not to be read."""
    for place in (folder, base.parent):
        try:
            known = json.loads((place / "resources.json").read_text("utf-8"))[LANGUAGE]
            if isinstance(known, dict):
                return known
        except (OSError, ValueError, LookupError, TypeError):
            continue
    return {}


def _with_support(
    part: Part,
    found: Mapping[Part, list[Path]],
    packages: Mapping[str, Any],
    checked: set[Path],
) -> StanzaModel:
    """The one model of a kind and, from the same folder, what it needs.

    checked: files known to be safe, added to; word vectors are large, and several need them.
    """
    path = _only(part, found[part])
    weights = read_weights(path)
    if kind_of(weights) is not part:
        raise ParserError(f"{path} is no stanza model of the kind {part}")
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


def _only(part: Part, paths: list[Path]) -> Path:
    if len(paths) > 1:
        names = ", ".join(path.name for path in paths)
        raise ParserError(
            f"the folder {paths[0].parent} holds several {_NAMED[part]} ({names}): "
            "put the one to be used into a folder of its own"
        )
    return paths[0]


def _dependency(packages: Mapping[str, Any], part: Part, name: str, need: Part) -> str | None:
    """The package that resources.json names for a model's vectors or character model."""
    listed = _entry(_entry(packages, part), name).get("dependencies")
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and one.get("model") == need:
            return str(one.get("package"))
    return None


def _entry(listed: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = listed.get(key)
    return found if isinstance(found, dict) else {}


def _by_name(paths: list[Path], config: Mapping[str, Any], need: Part) -> list[Path]:
    """Of several, the one whose name the model remembers from its training."""
    key = {
        Part.PRETRAIN: "wordvec_pretrain_file",
        Part.FORWARD: "charlm_forward_file",
        Part.BACKWARD: "charlm_backward_file",
    }[need]
    trained = Path(str(config.get(key) or "")).name
    return [path for path in paths if path.name == trained] or paths


def _digest(models: Mapping[Part, StanzaModel]) -> str:
    """Of all files that are loaded, in a fixed order."""
    whole = hashlib.sha256()
    for part in sorted(models):
        for path in (models[part].path, *models[part].support.values()):
            with path.open("rb") as file:
                whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()[:8]
