"""Where word vectors come from: a file, a spaCy pipeline, or an encoder's table of pieces."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from nfh_models.bilstm.settings import Settings
from nfh_models.bilstm.vector_files import VectorError, read_vector_file
from nfh_models.bilstm.words import Floats, Vectors, gathered, wanted_forms
from nfh_models.resolution.item import ResolutionExample
from nfh_models.setting_words import SettingError

FILE = "file"
SPACY = "spacy"
ENCODER = "encoder"


def vectors_of(settings: Settings, examples: Sequence[ResolutionExample]) -> Vectors:
    """The vectors that a training needs: of the words of its passages, and the first of the
    source besides.

    Raises SettingError for a source that is none, VectorError for one that does not hold or
    has none of the words.
    """
    passages = {id(one.item.passage): one.item.passage for one in examples}.values()
    words = {passage.word(i) for passage in passages for i in range(len(passage.tokens))}
    return read_vectors(settings.vectors, words, settings.extra)


def read_vectors(source: str, words: set[str], extra: int = 0) -> Vectors:
    """The vectors of some words, and of the first `extra` words of the source.

    source: as in the settings. Raises as `vectors_of`.
    """
    kind, colon, where = source.partition(":")
    wanted = wanted_forms(words)
    if not colon or not where or kind not in (FILE, SPACY, ENCODER):
        raise SettingError(
            f"{source!r} is no source of word vectors: wanted {FILE}:PATH, {SPACY}:NAME or "
            f"{ENCODER}:FOLDER"
        )
    if kind == FILE:
        found = read_vector_file(Path(where), wanted, extra)
    elif kind == SPACY:
        found = _of_spacy(where, wanted, extra)
    else:
        from nfh_models.bilstm.encoder_table import read_encoder_table

        found = read_encoder_table(Path(where), wanted, extra)
    # The folder is the user's own business; the name is enough to know the source again.
    made = gathered(found, f"{kind}:{Path(where).name}")
    if words and not any(word in made.places for word in wanted):
        raise VectorError(
            f"{source} has a vector for none of the {len(words):,} words of the text"
        )
    return made


def _of_spacy(name: str, wanted: set[str], extra: int) -> Iterator[tuple[str, Floats]]:
    from nfh_models.lean_spacy import import_spacy

    import_spacy()
    import spacy

    try:
        # Every component is left out: the vectors are the vocabulary's.
        language = spacy.load(name, exclude=_components(name))
    except (OSError, ValueError, ImportError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise VectorError(f"The spaCy pipeline {name} cannot be loaded: {first}") from error
    vocabulary = language.vocab
    if not vocabulary.vectors.shape[0]:
        raise VectorError(
            f"The spaCy pipeline {name} has no word vectors. English pipelines whose names end "
            "in _md or _lg have them"
        )
    for word in sorted(wanted):
        if vocabulary.has_vector(word):
            yield word, np.asarray(vocabulary.get_vector(word), np.float32)
    for key in islice(vocabulary.vectors.keys(), extra):
        word = vocabulary.strings[key]
        yield word, np.asarray(vocabulary.vectors[key], np.float32)


def _components(name: str) -> list[str]:
    """The components of a pipeline, as its meta.json names them."""
    from spacy.util import get_model_meta, get_package_path, is_package

    folder = get_package_path(name) if is_package(name) else Path(name)
    if not (folder / "meta.json").is_file():
        return []
    return list(get_model_meta(folder).get("components", []))
