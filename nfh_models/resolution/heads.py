"""From a recipe's choice to a complete answer: heads with all mentions, phrase boundaries,
coordinated nouns, and the relation AND or OR.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from nfh_models.domain import (
    IMPLICIT_KINDS,
    Answer,
    Mention,
    Origin,
    Relation,
    class_answer,
    reference_answer,
)
from nfh_models.parsing.base import Parsed, Tree
from nfh_models.parsing.span_heads import BOUNDARIES, DETERMINERS, STOPS, may_be_head
from nfh_models.resolution.base import Choice, Item, Several

# --- the phrase of a head, from the item's parse ---------------------------------------------
#
# The noun with its premodifiers and prepositional phrases; without relative clauses,
# appositions and further members of a coordination. It never includes the anchor or another
# turn. Without a parse it is the noun alone.

REACH = 30
"""Tokens on either side of a noun in which its phrase is looked for."""

_BEFORE = frozenset(
    "det amod compound nummod poss nmod nmod:poss quantmod predet det:predet nounmod flat "
    "nn nmod:npmod advmod".split()
)
"""Relations of dependents before a noun, as in ClearNLP and in Universal Dependencies."""

_BEHIND = frozenset("prep nmod nmod:of flat fixed compound nummod case".split())
"""Relations of dependents after it."""

_LEFT_OUT = frozenset(
    "relcl acl acl:relcl advcl cc conj appos punct parataxis discourse list dep".split()
)
"""Relations that are left out at any depth."""

_NOUN_PHRASES = frozenset({"NP", "NP-TMP", "NX", "NML", "NAC"})
_CLAUSES = frozenset({"SBAR", "S", "SINV", "SQ", "SBARQ", "VP", "PRN"})
_NOUN_TAGS = frozenset({"NN", "NNS", "NNP", "NNPS"})


def phrase_of(item: Item, head: int) -> tuple[int, int]:
    """Tokens [start, end) of the passage: the phrase of a noun, `head` among them."""
    parsed = item.parsed
    if parsed is None or not 0 <= head - item.parsed_from < len(parsed.words):
        return head, head + 1
    own = head - item.parsed_from
    start, end = _in_parse(parsed, own)
    return _within(item, head, start + item.parsed_from, end + item.parsed_from)


def _in_parse(parsed: Parsed, head: int) -> tuple[int, int]:
    if len(parsed.heads) == len(parsed.relations) == len(parsed.words):
        return _run(_hanging(parsed, head), head)
    for tree in parsed.trees:
        if tree.start <= head < tree.end:
            return _noun_phrase(tree, head)
    return head, head + 1


def _within(item: Item, head: int, start: int, end: int) -> tuple[int, int]:
    """The part of a phrase in the head's turn and on its side of the anchor."""
    turn = item.passage.turns[item.passage.turn_of(head)]
    start, end = max(start, turn.start), min(end, turn.end)
    if head < item.anchor.start:
        return start, min(end, item.anchor.start)
    return max(start, item.anchor.end), end


# --- dependencies ---------------------------------------------------------------------------


def _hanging(parsed: Parsed, head: int) -> set[int]:
    """The head and all tokens of its phrase, not necessarily contiguous."""
    first, last = max(0, head - REACH), min(len(parsed.words), head + REACH + 1)
    children: dict[int, list[int]] = {}
    for token in range(first, last):
        if parsed.heads[token] != token:
            children.setdefault(parsed.heads[token], []).append(token)
    found = {head}
    waiting = [
        token
        for token in children.get(head, [])
        if parsed.relations[token] in (_BEFORE if token < head else _BEHIND)
    ]
    while waiting:
        token = waiting.pop()
        if token in found:
            continue
        found.add(token)
        waiting += [
            child
            for child in children.get(token, [])
            if parsed.relations[child] not in _LEFT_OUT
        ]
    return found


def _run(tokens: set[int], head: int) -> tuple[int, int]:
    """The contiguous tokens around the head."""
    start, end = head, head + 1
    while start - 1 in tokens:
        start -= 1
    while end in tokens:
        end += 1
    return start, end


# --- constituents ---------------------------------------------------------------------------


def _noun_phrase(sentence: Tree, head: int) -> tuple[int, int]:
    """The largest noun phrase with this head, without clauses."""
    path = _path(sentence, head)
    start, end = head, head + 1
    for tree in reversed(path):
        if tree.label not in _NOUN_PHRASES or _last_noun(tree) != head:
            break
        start, end = tree.start, _end(tree, head)
    return start, end


def _path(tree: Tree, head: int) -> list[Tree]:
    """The phrases that contain a token, outermost first, without the leaf."""
    path: list[Tree] = []
    while tree.children:
        path.append(tree)
        inner = next((t for t in tree.children if t.start <= head < t.end), None)
        if inner is None:
            break
        tree = inner
    return path


def _last_noun(tree: Tree) -> int | None:
    """The head of a noun phrase; None where it is coordinated, or has none of its own."""
    while tree.children:
        labels = [child.label for child in tree.children]
        if "CC" in labels or "CONJP" in labels or labels.count("NP") > 1:
            return None
        nouns = [
            child
            for child in tree.children
            if child.label in _NOUN_TAGS or child.label in _NOUN_PHRASES
        ]
        if not nouns:
            return None
        tree = nouns[-1]
    return tree.start


def _end(tree: Tree, head: int) -> int:
    """The end of a phrase without clauses and marks after its head."""
    end = head + 1
    for child in tree.children:
        if child.end <= end:
            continue
        if child.label in _CLAUSES or not child.label[:1].isalpha():
            break
        end = child.end if child.start > head else _end(child, head)
    return end


# --- mentions: all tokens of a noun, singular or plural ---------------------------------------
#
# The release marks every mention of a head's word, found by comparing words. Of the 453
# development References with one noun, given the nearest mention, all tokens of its lemma have
# a precision of 91.6 % and include every marked one; without verb forms of other words 92.2 %,
# and without tokens that a parser takes for no noun 92.6 %, still with every marked one. The
# rest is singular beside plural, which the release marks sometimes and this program always.

VERB_ENDINGS = ("ed", "ing")
"""Of a form that is a verb beside another form of its lemma: "kissed" beside "a kiss"."""

NO_NOUNS = frozenset("VERB AUX ADV PRON DET ADP SCONJ CCONJ INTJ PART PUNCT".split())
"""Universal parts of speech of tokens that are no mention of a noun in another form."""


@dataclass(frozen=True, slots=True)
class HeadGroup:
    """A possible head: all mentions of one noun."""

    best: int
    """The token with the highest score, which is marked."""
    tokens: tuple[int, ...]
    """All mentions, ascending, `best` among them."""
    score: float
    """The sum of their scores."""


class HeadGroups:
    """The groups of one item's candidates. scores: one for each token; None for no
    candidate.
    """

    def __init__(self, item: Item, choice: Choice) -> None:
        self._item = item
        self.scores = _scores(item, choice)
        self._lemmas = [token.lemma.lower() for token in item.passage.tokens]

    def lemma(self, token: int) -> str:
        return self._lemmas[token]

    def of(self, token: int) -> HeadGroup:
        """The group of a token, candidate or not; it is the marked one.

        Raises ValueError for a token outside the passage or in the anchor.
        """
        anchor = self._item.anchor
        inside = anchor.start <= token < anchor.end
        if inside or not 0 <= token < len(self._lemmas):
            raise ValueError(f"{token} is not a token that can be a head, outside the anchor")
        tokens = self._mentions(token)
        return HeadGroup(token, tokens, sum(self.scores[one] or 0.0 for one in tokens))

    def others(self, known: HeadGroup, most: int) -> list[HeadGroup]:
        """The groups of other nouns with the highest scores, at most `most`; of equals the
        earlier.

        Groups with the score 0 are left out.
        """
        sums: dict[str, float] = {}
        best: dict[str, tuple[float, int]] = {}
        for token, (lemma, score) in enumerate(zip(self._lemmas, self.scores, strict=True)):
            if score is not None and score > 0:
                sums[lemma] = sums.get(lemma, 0.0) + score
                best[lemma] = min(best.get(lemma, (-score, token)), (-score, token))
        sums.pop(self.lemma(known.best), None)
        ranked = sorted(sums, key=lambda lemma: (-sums[lemma], best[lemma][1]))
        return [self.of(best[lemma][1]) for lemma in ranked[:most]]

    def _mentions(self, token: int) -> tuple[int, ...]:
        item, wanted = self._item, self._lemmas[token]
        own = item.passage.word(token).lower()
        return tuple(
            one
            for one, lemma in enumerate(self._lemmas)
            if lemma == wanted
            and not item.anchor.start <= one < item.anchor.end
            and (one == token or _is_mention(item, one, own))
        )


def _is_mention(item: Item, token: int, own: str) -> bool:
    form = item.passage.word(token).lower()
    if form == own:
        return True
    return not form.endswith(VERB_ENDINGS) and tag_of(item, token) not in NO_NOUNS


def tag_of(item: Item, token: int) -> str:
    """The universal part of speech of a token in the item's parse; "" without one."""
    if item.parsed is None:
        return ""
    place = token - item.parsed_from
    return item.parsed.pos[place] if 0 <= place < len(item.parsed.pos) else ""


def _scores(item: Item, choice: Choice) -> list[float | None]:
    """One entry for each token; None for what is no candidate, the anchor included."""
    size = len(item.passage.tokens)
    scores = list(choice.scores[len(IMPLICIT_KINDS) :][:size])
    scores += [None] * (size - len(scores))
    for token in range(item.anchor.start, item.anchor.end):
        scores[token] = None
    return scores


# --- coordination: "the wine or the beer", "a fox, a goose and a sack"
# -------------------------
#
# No parse is needed. A noun may have a determiner and two more words before it; its neighbour
# is directly after a comma or a coordinator, and has a determiner if and only if the noun has
# one. Of the words after a coordinator the noun is the one with the highest score, the last of
# equals.

COORDINATORS = frozenset({"and", "or", "nor", "&"})
LONGEST = 6
"""The largest number of members of one coordination."""

_MODIFIERS = 2
"""Words between an article and its noun."""

_NO_MEMBERS = BOUNDARIES | frozenset(
    "i you he she it we they me him us them there here one ones not n't so then both either "
    "neither can could will would shall should may might must do does did 's 'm 're 've 'll "
    "'d just only even maybe also very too yes no oh well what let go get come "
    "something anything nothing everything someone somebody anyone anybody everyone nobody "
    "now today tonight tomorrow".split()
)
"""Words that are no noun of a list, and stand in no phrase of one."""


Scores = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Coordination:
    """Coordinated nouns."""

    members: tuple[int, ...]
    """Their tokens, ascending, two or more."""
    links: frozenset[str]
    """The coordinators between them, in lower case."""


def coordination_of(item: Item, scores: Scores, noun: int) -> Coordination | None:
    """The coordination that a noun is part of; None where it stands alone.

    scores: of a recipe, one for each token; None for no candidate. Commas alone do not
    coordinate: there is a coordinator between two of the members.
    """
    words = _Words(item, scores)
    before = list(_chain(words, noun, -1))
    behind = list(_chain(words, noun, 1))
    links = frozenset(link for link, _ in (*before, *behind) if link in COORDINATORS)
    if not links:
        return None
    members = (*(token for _, token in reversed(before)), noun, *(t for _, t in behind))
    return Coordination(members, links)


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of an item's passage, in lower case, without its anchor."""

    item: Item
    scores: Scores

    def score(self, token: int) -> float:
        """The recipe's score; 0 for no candidate."""
        return self.scores[token] or 0.0

    def low(self, token: int) -> str:
        """The word; "" outside the passage and in the anchor."""
        item = self.item
        if not 0 <= token < len(item.passage.tokens):
            return ""
        if item.anchor.start <= token < item.anchor.end:
            return ""
        return item.passage.word(token).lower()

    def counts(self, token: int) -> bool:
        """Whether a token is part of the anchor, or another "one"."""
        anchor = self.item.anchor
        return anchor.start <= token < anchor.end or self.low(token) in ("one", "ones")

    def may_be_member(self, token: int) -> bool:
        """Whether a word may be a member, or stand in the phrase of one."""
        word = self.low(token)
        if not word or word in _NO_MEMBERS or word in DETERMINERS or word in STOPS:
            return False
        return may_be_head(word)

    def noun(self, token: int) -> bool:
        """The same, and the parse, if there is one, does not contradict."""
        return self.may_be_member(token) and tag_of(self.item, token) not in NO_NOUNS


def _chain(words: _Words, noun: int, step: int) -> Iterator[tuple[str, int]]:
    """The members on one side, nearest first, each with the link before it on the way."""
    find = _before if step < 0 else _behind
    for _ in range(LONGEST - 1):
        found = find(words, noun)
        if found is None:
            return
        yield found
        noun = found[1]


def _before(words: _Words, noun: int) -> tuple[str, int] | None:
    start, has_article = _opening(words, noun)
    link, at = _link(words, start - 1, -1)
    if not link or not words.noun(at):
        return None
    return (link, at) if _opening(words, at)[1] is has_article else None


def _behind(words: _Words, noun: int) -> tuple[str, int] | None:
    link, at = _link(words, noun + 1, 1)
    if not link:
        return None
    has_article = words.low(at) in DETERMINERS
    at += has_article
    last = _noun_from(words, at)
    if last is None or _opening(words, noun)[1] is not has_article:
        return None
    return link, last


def _noun_from(words: _Words, start: int) -> int | None:
    """The noun of a phrase that begins at a token; None without one."""
    end = start
    while end - start <= _MODIFIERS and words.may_be_member(end):
        end += 1
    ranked = sorted(range(start, end), key=lambda token: (words.score(token), token))
    if not ranked or not words.noun(ranked[-1]):
        return None
    best = ranked[-1]
    rated = len(ranked) > 1 and words.score(best) > words.score(ranked[-2])
    # "the small boat or the big one": what stands before a number is no noun of its own.
    if words.counts(end) or not (rated or not words.may_be_member(end)):
        return None
    return best


def _opening(words: _Words, noun: int) -> tuple[int, bool]:
    """The begin of a noun's phrase, and whether it has a determiner."""
    for start in range(noun, noun - _MODIFIERS - 1, -1):
        if words.low(start - 1) in DETERMINERS:
            return start - 1, True
        if not words.may_be_member(start - 1):
            return start, False
    return noun, False


def _link(words: _Words, at: int, step: int) -> tuple[str, int]:
    """A coordinator, a comma, or both, and the token on the other side; "" for neither."""
    link = ""
    for sign in (",", *COORDINATORS) if step > 0 else (*COORDINATORS, ","):
        if words.low(at) == sign:
            link = sign if link in ("", ",") else link
            at += step
    return link, at


# --- several heads by words, for recipes that do not predict their number ---------------------
#
# All rules require that the chosen noun is coordinated, and that the other nouns have a score.

COUNTED = "counted"
EITHER = "either"
ONE_OR = "one-or"

_WORDS = ("one", "two", "three", "four", "five", "six")
_VALUES = {
    spelled: value for value, word in enumerate(_WORDS, 1) for spelled in (word, str(value))
}
_TOGETHER = frozenset("the these those all both between".split())
_EITHER = frozenset("either neither which whichever just only than any".split())
_NEAR = 3
"""Tokens before a number in which such words are looked for."""


@dataclass(frozen=True, slots=True)
class MatchedRule:
    """A rule that holds: its name, the nouns, and their relation."""

    rule: str
    members: tuple[int, ...]
    relation: Relation


def several_by_words(item: Item, found: Coordination) -> MatchedRule | None:
    """The first rule that holds; None where the words suggest a single head."""
    for rule, relation, holds in RULES:
        if holds(item, found):
            return MatchedRule(rule, found.members, relation)
    return None


def value_of(item: Item) -> int | None:
    """The value of a number of one token up to six; None for any other."""
    anchor = item.anchor
    if anchor.end - anchor.start > 1:
        return None
    return _VALUES.get(item.passage.word(anchor.start).lower())


def _counted(item: Item, found: Coordination) -> bool:
    """As many things as the number says: "a dog and a cat ... the two"."""
    if value_of(item) != len(found.members):
        return False
    return _near(item, _TOGETHER) or all(_singular(item, token) for token in found.members)


def _either(item: Item, found: Coordination) -> bool:  # noqa: ARG001
    """One of the coordinated nouns, whatever joins them: "the hat and the coat ... just one",
    "either one".
    """
    return value_of(item) == 1 and _near(item, _EITHER)


def _one_or(item: Item, found: Coordination) -> bool:
    """One, where the nouns are joined by *or*: "the wine or the beer ... I'll have one"."""
    return value_of(item) == 1 and not found.links.isdisjoint({"or", "nor"})


def _singular(item: Item, token: int) -> bool:
    form = item.passage.word(token).lower()
    return form == item.passage.tokens[token].lemma.lower() or not form.endswith("s")


def _near(item: Item, wanted: frozenset[str]) -> bool:
    start = item.anchor.start
    return any(
        item.passage.word(token).lower() in wanted
        for token in range(max(0, start - _NEAR), start)
    )


RULES: Sequence[tuple[str, Relation, Callable[[Item, Coordination], bool]]] = (
    (COUNTED, Relation.AND, _counted),
    (EITHER, Relation.OR, _either),
    (ONE_OR, Relation.OR, _one_or),
)


SURE = 0.7
"""A number has several heads where AND and OR together have a higher probability than this.

With the small model of 2026-11-28 and 0.5, 0.7 and 0.9 the set of heads was correct in 340, 341
and 341 of dev's 464 References, with 7, 6 and 2 superfluous heads; in 62, 63 and 63 of the 122
held-out passages, where 51, 49 and 42 of the 84 with several heads were correct.
"""

THIRD = 0.5
"""The least score of a third or further head, relative to the second one.

In 166 passages where a base-size encoder, trained without such passages and told that there are
several heads, chose a correct first one, the set was correct in 77 % for 0.02, 79 % for 0.1, 80
% for 0.5 and 1; of the ten with three heads in 6, 6, 4 and 3.
"""

PARTNER = 0.0001
"""Nouns coordinated with the first head are heads only if each has this share of the score of
the best other noun or, by words, of the first head: a candidate without any score is usually a
verb.

On the passages above the set was correct in 79 % for 0, 80 % for 0.0001, 78 % for 0.01, 75 %
for 0.05; by words, in 17, 11, 3 and 2 % of all 309 with several heads, with 7, 4, 3 and 1
superfluous heads in 181 References with one.
"""

SECOND = 0.2
"""The least score of a second head, relative to the first one: candidates below are often no
nouns, which a recipe without parts of speech cannot see.

With the same model and 0, 0.1, 0.2 and 0.5: dev 334, 338, 340 and 342 of 464, with 15, 9, 7 and
2 superfluous heads; held-out passages 61, 62, 62 and 52 of 122.
"""

MOST = 6
"""The largest number of heads of one answer."""

_CLASSES = {kind.value: kind for kind in IMPLICIT_KINDS}


def decode(item: Item, choice: Choice) -> Answer:
    """The complete answer for a choice.

    A class gives an answer without heads. A token gives a head with all its mentions, that
    token marked and the others added. There are further heads where the recipe predicts several
    or, if it does not predict that, where the words suggest it. Raises ValueError where the
    choice is neither a class nor a token of the passage outside the anchor.
    """
    kind = _CLASSES.get(choice.choice)
    if kind is not None:
        return class_answer(kind)
    groups = HeadGroups(item, choice)
    first = groups.of(int(choice.choice))
    if choice.several is None:
        heads, relation = _by_words(item, groups, first)
    else:
        heads, relation = _by_probability(item, groups, first, choice.several)
    answer = reference_answer([_mentions(item, head) for head in heads], relation)
    answer.check(len(item.passage.tokens), item.anchor.start, item.anchor.end)
    return answer


Heads = tuple[list[HeadGroup], Relation | None]
"""One or more heads, and their relation; None for one."""


def _by_probability(
    item: Item, groups: HeadGroups, first: HeadGroup, several: Several
) -> Heads:
    if several.both + several.either <= SURE:
        return [first], None
    relation = Relation.AND if several.both >= several.either else Relation.OR
    most = MOST
    if relation is Relation.AND:
        # "Two" counts no more than two things; "five" may count two kinds of things.
        most = max(2, min(MOST, value_of(item) or MOST))
    others = [
        other for other in groups.others(first, most - 1) if other.score >= SECOND * first.score
    ]
    if not others:
        return [first], None
    beside = _beside(item, groups, first)
    if beside and len(beside) < most and _hold(beside, others[0]):
        return [first, *beside], relation
    least = THIRD * others[0].score
    return [first, *(other for other in others if other.score >= least)], relation


def _beside(item: Item, groups: HeadGroups, first: HeadGroup) -> list[HeadGroup]:
    """The other nouns coordinated with the first head, in their order."""
    found = coordination_of(item, groups.scores, first.best)
    heads: dict[str, HeadGroup] = {}
    for token in found.members if found is not None else ():
        if groups.lemma(token) != groups.lemma(first.best):
            heads.setdefault(groups.lemma(token), groups.of(token))
    return list(heads.values())


def _hold(heads: Sequence[HeadGroup], against: HeadGroup) -> bool:
    """Whether all these heads have enough score."""
    return all(0 < head.score >= PARTNER * against.score for head in heads)


def _by_words(item: Item, groups: HeadGroups, first: HeadGroup) -> Heads:
    beside = _beside(item, groups, first)
    found = coordination_of(item, groups.scores, first.best)
    said = None if found is None else several_by_words(item, found)
    if said is None or not beside or not _hold(beside, first):
        return [first], None
    return [first, *beside], said.relation


def _mentions(item: Item, group: HeadGroup) -> list[Mention]:
    """The mentions of a head, the best one first."""
    found = []
    for token in (group.best, *(token for token in group.tokens if token != group.best)):
        start, end = phrase_of(item, token)
        origin = Origin.MARKED if token == group.best else Origin.ADDED
        found.append(Mention(start, end, token, origin))
    return found
