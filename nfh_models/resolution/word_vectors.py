"""Word vectors from files, from a spaCy pipeline or from an encoder's word table, and their
lookup.
"""

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from nfh_models import ModelsError
from nfh_models.model_files import SettingError
from nfh_models.parsing.spacy_parser import first_line
from nfh_models.resolution.base import ResolutionExample
from nfh_models.resolution.bilstm_settings import BilstmSettings

if TYPE_CHECKING:
    from tokenizers import Tokenizer

DIGIT = re.compile(r"[0-9]")

Floats = NDArray[np.float32]


def forms(word: str) -> tuple[str, ...]:
    """The forms under which a word is looked up, in this order.

    As it is, in lower case, and with # for each digit: the vectors of Google News, which the
    paper uses, have "##" for all numbers of two digits.
    """
    lower = word.lower()
    found = (word, lower, DIGIT.sub("#", lower))
    return tuple(dict.fromkeys(found))


def wanted_forms(words: Iterable[str]) -> set[str]:
    return {form for word in set(words) for form in forms(word)}


@dataclass(frozen=True)
class Vectors:
    """Words with a vector each.

    table: (words, width), numbers of 16 bits held in 32, so that a model read from its folder,
    where they have 16, chooses as before. source: where they came from, as in the settings,
    without the path.
    """

    words: tuple[str, ...]
    table: Floats
    source: str
    places: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.table.ndim != 2 or len(self.table) != len(self.words):
            raise ValueError(f"{len(self.words)} words, a table of {self.table.shape}")
        places = {word: place for place, word in enumerate(self.words)}
        object.__setattr__(self, "places", places)

    @property
    def width(self) -> int:
        return int(self.table.shape[1])

    def place(self, word: str) -> int | None:
        """The row of a word's vector; None for a word without one in any form."""
        for form in forms(word):
            found = self.places.get(form)
            if found is not None:
                return found
        return None


def vectors_from(found: Iterator[tuple[str, Floats]], source: str) -> Vectors:
    """Vectors from words with their numbers; the first entry of a word counts."""
    rows: dict[str, Floats] = {}
    for word, numbers in found:
        rows.setdefault(word, numbers)
    words = tuple(sorted(rows))
    width = len(rows[words[0]]) if words else 1
    table = np.zeros((len(words), width), np.float32)
    for place, word in enumerate(words):
        table[place] = rows[word]
    return Vectors(words, to_half(table), source)


def to_half(table: Floats) -> Floats:
    """The numbers of a table rounded to 16 bits."""
    largest = float(np.finfo(np.float16).max)
    return np.clip(table, -largest, largest).astype(np.float16).astype(np.float32)


# --- files of word vectors: both forms of word2vec, and GloVe ---------------------------------
#
# A line of text is a word and its numbers, separated by spaces. word2vec begins with a line
# "WORDS WIDTH", GloVe does not; word2vec's binary form has that line, too, and then each word,
# a space, and its numbers as 32-bit floats. The form is detected from the content, and ".gz"
# from the name. Files are streamed, since libraries keep a whole file in memory, which may be
# 3.4 GB. https://code.google.com/archive/p/word2vec/ (distance.c),
# https://nlp.stanford.edu/projects/glove/

LONGEST_LINE = 1_000_000
LONGEST_WORD = 10_000
"""Bytes; Google News has words of 98."""

WIDEST = 4_096
CHUNK = 1 << 20


class VectorError(ModelsError):
    """Word vectors that are missing or unreadable; the message says where, and what to do."""


def read_vector_file(path: Path, wanted: set[str], extra: int) -> Iterator[tuple[str, Floats]]:
    """The wanted words of a file, and its first `extra` words, with their vectors.

    Raises VectorError for a malformed file, with the line or, in the binary form, the word.
    """
    try:
        with _opened(path) as file:
            yield from _entries(file, path, wanted, extra)
    except (OSError, EOFError, zlib.error) as error:
        said = error.strerror if isinstance(error, OSError) else None
        raise VectorError(f"{path} cannot be read: {said or error}") from error


def _opened(path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        return cast("BinaryIO", gzip.open(path, "rb"))
    return path.open("rb")


def _entries(
    file: BinaryIO, path: Path, wanted: set[str], extra: int
) -> Iterator[tuple[str, Floats]]:
    first = file.readline(LONGEST_LINE)
    if not first.strip():
        raise VectorError(f"{path} holds no word vectors: its first line is empty")
    header = _header(first)
    if header is None:
        yield from _text(file, path, first, _width(first, path), wanted, extra)
        return
    width = header[1]
    if not 1 <= width <= WIDEST:
        raise VectorError(
            f"{path}, line 1: vectors of {width:,} numbers; wanted 1 to {WIDEST:,}"
        )
    head = file.read(CHUNK)
    if _is_text(head, width):
        file.seek(len(first))
        yield from _text(file, path, b"", width, wanted, extra)
    else:
        yield from _binary(file, path, head, header, wanted, extra)


def _header(line: bytes) -> tuple[int, int] | None:
    """Number of words and width from word2vec's first line; None without such a line."""
    parts = line.split()
    if len(parts) == 2 and all(part.isdigit() and len(part) < 20 for part in parts):
        return int(parts[0]), int(parts[1])
    return None


def _width(line: bytes, path: Path) -> int:
    width = len(line.split()) - 1
    if not 1 <= width <= WIDEST or _numbers(line.split()[1:]) is None:
        raise VectorError(
            f"{path}, line 1: wanted a word and its numbers, or word2vec's number of words and "
            "of numbers a word"
        )
    return width


def _is_text(head: bytes, width: int) -> bool:
    """Whether the data after the header begin with a line of text: a word and `width`
    numbers.
    """
    line, _, _ = head.partition(b"\n")
    parts = line.split()
    return len(parts) > width and _numbers(parts[-width:]) is not None


def _numbers(parts: list[bytes]) -> Floats | None:
    try:
        found = np.array([float(part) for part in parts], np.float32)
    except (ValueError, OverflowError):
        return None
    return found if np.isfinite(found).all() else None


# --- text -----------------------------------------------------------------------------------


def _text(
    file: BinaryIO, path: Path, first: bytes, width: int, wanted: set[str], extra: int
) -> Iterator[tuple[str, Floats]]:
    """first: the line that was read already, b"" where it was the header."""
    number = 0 if first else 1
    taken = 0
    while line := first or file.readline(LONGEST_LINE):
        first = b""
        number += 1
        parts = line.rstrip().split(b" ")
        if not line.strip():
            continue
        if len(parts) <= width:
            raise VectorError(
                f"{path}, line {number:,}: {len(parts) - 1:,} numbers, wanted {width:,}. The "
                "file may be cut short"
            )
        # A few words of GloVe hold spaces themselves.
        word = b" ".join(parts[:-width]).decode("utf-8", "replace")
        if word in wanted or taken < extra:
            numbers = _numbers(parts[-width:])
            if numbers is None:
                raise VectorError(
                    f"{path}, line {number:,}: the text after the word is not a number"
                )
            taken += 1
            yield word, numbers


# --- binary ---------------------------------------------------------------------------------


class _Bytes:
    """A buffered stream in which words can be searched."""

    def __init__(self, file: BinaryIO, held: bytes) -> None:
        self._file, self._held, self._at = file, held, 0

    def _more(self) -> bool:
        found = self._file.read(CHUNK)
        self._held = self._held[self._at :] + found
        self._at = 0
        return bool(found)

    def until_space(self) -> bytes | None:
        """The bytes before the next space; None where none comes within LONGEST_WORD."""
        while (end := self._held.find(b" ", self._at)) < 0:
            if len(self._held) - self._at > LONGEST_WORD or not self._more():
                return None
        found = self._held[self._at : end]
        self._at = end + 1
        return found

    def take(self, size: int) -> bytes | None:
        """`size` bytes; None where there are fewer."""
        while len(self._held) - self._at < size:
            if not self._more():
                return None
        found = self._held[self._at : self._at + size]
        self._at += size
        return found


def _binary(
    file: BinaryIO,
    path: Path,
    head: bytes,
    header: tuple[int, int],
    wanted: set[str],
    extra: int,
) -> Iterator[tuple[str, Floats]]:
    words, width = header
    stream = _Bytes(file, head)
    for number in range(1, words + 1):
        spelled = stream.until_space()
        packed = None if spelled is None else stream.take(4 * width)
        if spelled is None or packed is None or len(spelled) > LONGEST_WORD:
            raise VectorError(
                f"{path} ends, or is not a word2vec file, in word {number:,} of {words:,}. "
                "Copy or download it again"
            )
        word = spelled.lstrip(b"\n").decode("utf-8", "replace")
        if word in wanted or number <= extra:
            numbers = np.frombuffer(packed, "<f4").astype(np.float32)
            if not np.isfinite(numbers).all():
                raise VectorError(
                    f"{path}, word {number:,}, {word[:60]!r}: its vector has a value that is "
                    "not a finite number"
                )
            yield word, numbers


TOKENIZER = "tokenizer.json"

TABLES = (
    "word_embeddings.weight",
    "embed_tokens.weight",
    "wte.weight",
    "shared.weight",
    "tok_embeddings.weight",
)
"""How the names of word piece tables end: BERT and its kin, Llama and BART, GPT-2, T5,
ModernBERT.
"""

MOST_PIECES = 8
"""Pieces of a word that are used, as in the recipe `encoder`."""


def read_encoder_table(
    folder: Path, wanted: set[str], extra: int
) -> Iterator[tuple[str, Floats]]:
    """A vector for each wanted word, and for the first `extra` whole words of the table.

    folder: of a Hugging Face model with its tokenizer.json and safetensors. The table is
    centred, and scaled to the standard deviation 1, as the layer norm after it does for each
    word. Raises VectorError.
    """
    from tokenizers import Tokenizer

    if not folder.is_dir():
        raise VectorError(f"There is no folder {folder}: wanted one of a Hugging Face model")
    if not (folder / TOKENIZER).is_file():
        raise VectorError(f"{folder} holds no {TOKENIZER}: the words cannot be cut into pieces")
    try:
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    except Exception as error:  # tokenizers raises plain Exception
        raise VectorError(
            f"{folder / TOKENIZER} cannot be read: get the encoder again ({first_line(error)})"
        ) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    table = _scaled(_table(folder))
    unknown = {tokenizer.token_to_id(name) for name in ("[UNK]", "<unk>")}
    if tokenizer.get_vocab_size() > len(table):
        raise VectorError(
            f"{folder}: the tokenizer knows {tokenizer.get_vocab_size():,} pieces, the table "
            f"of the weights {len(table):,}"
        )
    words = sorted(wanted)
    # The space in front is what stands before a word in text; byte-level pieces have it in.
    cut = tokenizer.encode_batch([f" {word}" for word in words], add_special_tokens=False)
    for word, pieces in zip(words, cut, strict=True):
        ids = [one for one in pieces.ids[:MOST_PIECES] if one not in unknown]
        if ids:
            yield word, table[ids].mean(0)
    yield from islice(_whole(tokenizer, table), extra)


def _whole(tokenizer: "Tokenizer", table: Floats) -> Iterator[tuple[str, Floats]]:
    """The pieces that are words by themselves, in the table's order."""
    special = set(tokenizer.get_added_tokens_decoder())
    pieces = sorted(tokenizer.get_vocab().items(), key=lambda one: one[1])
    words = [tokenizer.decode([place]).strip() for _, place in pieces]
    cut = tokenizer.encode_batch([f" {word}" for word in words], add_special_tokens=False)
    for (_, place), word, found in zip(pieces, words, cut, strict=True):
        if word and place not in special and found.ids == [place]:
            yield word, table[place]


def _table(folder: Path) -> Floats:
    from safetensors import SafetensorError, safe_open

    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise VectorError(
            f"{folder} holds no .safetensors file; weights of other formats are not opened, "
            "because they can run code"
        )
    for path in files:
        try:
            with safe_open(path, framework="pt") as file:
                for name in sorted(file.keys()):
                    if name.endswith(TABLES):
                        return np.asarray(file.get_tensor(name).float().numpy(), np.float32)
        except (OSError, SafetensorError) as error:
            raise VectorError(
                f"{path} cannot be read: get the encoder again ({first_line(error)})"
            ) from error
    raise VectorError(f"{folder} holds no table of word pieces that is known here")


def _scaled(table: Floats) -> Floats:
    if table.ndim != 2 or not np.isfinite(table).all():
        raise VectorError(
            "The encoder's table of word pieces has values that are not finite numbers"
        )
    centred = table - table.mean(0)
    deviation = float(centred.std())
    return np.asarray(centred / (deviation or 1.0), np.float32)


FILE = "file"
SPACY = "spacy"
ENCODER = "encoder"


def vectors_of(settings: BilstmSettings, examples: Sequence[ResolutionExample]) -> Vectors:
    """The vectors for a training: of the words of its passages, and the first ones of the
    source.

    Raises SettingError for an unknown source, VectorError for a damaged one and for one that
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
            f"{source!r} is not a source of word vectors: wanted {FILE}:PATH, {SPACY}:NAME or "
            f"{ENCODER}:FOLDER"
        )
    if kind == FILE:
        found = read_vector_file(Path(where), wanted, extra)
    elif kind == SPACY:
        found = _of_spacy(where, wanted, extra)
    else:
        found = read_encoder_table(Path(where), wanted, extra)
    # The folder is the user's own business; the name is enough to know the source again.
    made = vectors_from(found, f"{kind}:{Path(where).name}")
    if words and not any(word in made.places for word in wanted):
        raise VectorError(
            f"{source} has a vector for none of the {len(words):,} words of the text"
        )
    return made


def _of_spacy(name: str, wanted: set[str], extra: int) -> Iterator[tuple[str, Floats]]:
    from nfh_models.parsing.spacy_parser import import_spacy

    import_spacy()
    import spacy

    try:
        # Every component is left out: the vectors are the vocabulary's.
        language = spacy.load(name, exclude=_components(name))
    except (OSError, ValueError, ImportError) as error:
        raise VectorError(
            f"The spaCy pipeline {name} cannot be loaded: {first_line(error)}"
        ) from error
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
