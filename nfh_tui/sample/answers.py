"""The notation of answers in the dialogs' source.

    CURRENCY   CURRENCY:pound   OTHER/noun:joke   NOT_NFH      a class, its sort, its noun
    t          t<1   t>2        the noun labelled t; one token more before, two behind
    t+b        t-w              with another word for the same thing; without a mention
    s & g      l | m            several heads: both; either

As the tool does, the other mentions of a marked noun's lemma are added to its head.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from nfh_models.domain import (
    Anchor,
    Answer,
    AnswerError,
    Head,
    Kind,
    Mention,
    Origin,
    Relation,
    Sort,
)

_CLASS = re.compile(r"(?P<kind>[A-Z_]+)(?:/(?P<sort>[a-z]+))?(?::(?P<noun>[a-z ]+))?")
_HEAD = re.compile(
    r"(?P<label>[a-z][a-z0-9]*)(?:<(?P<before>\d))?(?:>(?P<behind>\d))?"
    r"(?P<others>(?:[+-][a-z][a-z0-9]*)*)"
)
_OTHER = re.compile(r"([+-])([a-z][a-z0-9]*)")
_RELATIONS = {"&": Relation.AND, "|": Relation.OR}


def read_answer(
    text: str,
    nouns: Mapping[str, int],
    lemmas: Sequence[str],
    anchor: Anchor,
    comment: str = "",
) -> Answer:
    """The answer that `text` writes down.

    nouns: the token of each label. lemmas: one a token of the passage. Raises AnswerError
    with a sentence for what is no answer.
    """
    found = _CLASS.fullmatch(text)
    if found is not None:
        return _class(text, found, comment)
    signs = set(re.findall(r" ([&|]) ", text))
    if len(signs) > 1:
        raise AnswerError(f'"{text}" mixes & and |')
    heads = [_head(part, nouns, lemmas, anchor) for part in re.split(r" [&|] ", text)]
    live = [mention.head for head in heads for mention in head.live]
    if len(live) != len(set(live)):
        raise AnswerError(f'"{text}" names one noun in two heads')
    relation = _RELATIONS[signs.pop()] if signs else None
    answer = Answer(Kind.REFERENCE, tuple(heads), relation=relation, comment=comment)
    answer.check(len(lemmas), anchor.start, anchor.end)
    return answer


def _class(text: str, found: re.Match[str], comment: str) -> Answer:
    try:
        kind = Kind(found["kind"])
        sort = Sort(found["sort"].upper()) if found["sort"] else None
    except ValueError as error:
        raise AnswerError(f'"{text}" is no kind of answer') from error
    return Answer(kind, sort=sort, noun=found["noun"], comment=comment)


def _head(text: str, nouns: Mapping[str, int], lemmas: Sequence[str], anchor: Anchor) -> Head:
    found = _HEAD.fullmatch(text)
    if found is None:
        raise AnswerError(f'"{text}" is neither a class nor a labelled noun')
    token = _token(found["label"], nouns)
    start, end = token - int(found["before"] or 0), token + 1 + int(found["behind"] or 0)
    others: dict[int, Origin] = {}
    for sign, label in _OTHER.findall(found["others"]):
        others[_token(label, nouns)] = Origin.ADDED if sign == "+" else Origin.REMOVED
    named = [token, *(place for place, origin in others.items() if origin is Origin.ADDED)]
    for place in _same_noun(named, lemmas, anchor):
        others.setdefault(place, Origin.ADDED)
    mentions = [
        Mention(place, place + 1, place, origin) for place, origin in sorted(others.items())
    ]
    return Head((Mention(start, end, token), *mentions))


def _token(label: str, nouns: Mapping[str, int]) -> int:
    if label not in nouns:
        raise AnswerError(f'no noun is labelled "{label}" in the dialog')
    return nouns[label]


def _same_noun(named: Sequence[int], lemmas: Sequence[str], anchor: Anchor) -> Iterator[int]:
    """The other tokens with a lemma of the tokens `named`."""
    wanted = {lemmas[place].casefold() for place in named}
    for place, lemma in enumerate(lemmas):
        inside = anchor.start <= place < anchor.end
        if lemma.casefold() in wanted and place not in named and not inside:
            yield place
