"""How files are read here: with our tokens and lemmas, which are loaded when first needed."""

from collections.abc import Mapping, Sequence

from nfh_db.formats.options import LabelMap, Offsets, Reading, Span


def reading(
    *,
    labels: LabelMap | None = None,
    offsets: Offsets | None = None,
    columns: Mapping[str, str] | None = None,
    pause: float | None = None,
    encoding: str | None = None,
    annotator: str | None = None,
) -> Reading:
    """The settings of a reader, with what makes tokens and lemmas."""
    return Reading(
        tokenize=_tokenize,
        lemmatize=_lemmatize,
        tokenizer=_tokenizer,
        labels=labels or LabelMap(),
        offsets=offsets,
        columns=columns or {},
        pause=pause,
        encoding=encoding,
        annotator=annotator,
    )


def _tokenize(text: str) -> Sequence[Span]:
    from nfh_models.text.tokenize import spans

    return spans(text)


def _lemmatize(words: Sequence[str]) -> Sequence[str]:
    from nfh_models.text.lemmas import lemmas

    return lemmas(words)


def _tokenizer() -> str:
    from nfh_models.text.tokenize import tokenizer_name

    return tokenizer_name()
