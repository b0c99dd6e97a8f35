"""Passages and answers drawn by chance, from what formats stumble over."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from nfh_db.records import BY_RULE, ExportRecord, FlagMark, FlagName, Gold, Role, Rule, Vote
from nfh_models.domain import (
    Anchor,
    Answer,
    Head,
    Kind,
    Mention,
    Origin,
    Passage,
    Relation,
    Sort,
    Token,
    Turn,
    anchor_id,
)

LETTERS = (*"aBé3z", "e\u0301", "\u0301", "😀", "👩‍👧", "𝒳", "\u05e9\u05b0", "한", "\ufe0f")
SIGNS = (*".,!?\"'<>&|=_#*:;\\/[]{}-", "…", "\u200b", "\x1b", "\ufeff", "\ufffd")
GAPS = (" ", " ", " ", "  ", "\t", "\u00a0", " \t ", "\u2028", "\x0b", "")
ENDS = ("\n", "\n", "\r\n", "\n\n", "\n \n", "\r\n\r\n")
SPEAKERS = ("Ann", "Ben", "É ü", "", "# x", "a:b", "😀", "<v>", 'q"q')
NAMES = ("ann", "gold", "..", "a/b", "Eva Ö.", "INITIAL_CAS", "x" * 100, "CON", "𝒳")
WORDS = ("", " ", "x", "a\nb", "\t|=;", "é😀", '"q" \\n', "</x>&amp;", "# _ *", "\r\n\x85")
TIMES = ("2025-01-31T12:00:00.000Z", "2024-02-29T23:59:59.999Z", "1970-01-01T00:00:00.001Z")


@dataclass
class Chance:
    """Draws passages and what is said of them; the same seed draws the same."""

    random: Random

    def records(self, number: int) -> list[ExportRecord]:
        """So many records or a few more, by passage and span."""
        found: list[ExportRecord] = []
        seen: set[str] = set()
        while len(found) < number:
            passage = self.passage()
            if passage.digest not in seen:
                seen.add(passage.digest)
                found += self.of(passage)
        return found

    def of(self, passage: Passage) -> list[ExportRecord]:
        """Records of one passage's numbers."""
        spans = {self.span(len(passage.tokens), 3) for _ in range(self.random.randint(1, 4))}
        return [self.record(passage, Anchor(*span)) for span in sorted(spans)]

    # --- passages ---------------------------------------------------------------------------

    def passage(self) -> Passage:
        """A passage of one to five turns, and lines between them that hold no word."""
        choice, chance = self.random.choice, self.random.random
        text, tokens, turns, number = "", list[Token](), list[Turn](), 0
        times = chance() < 0.3
        for _ in range(self.random.randint(1, 5)):
            if text:
                text += choice(ENDS)
            speaker = choice((None, *SPEAKERS))
            text += f"{speaker}: " if speaker and chance() < 0.7 else choice(("", " "))
            first = len(tokens)
            for _ in range(self.random.randint(1, 8)):
                word = "".join(choice(LETTERS) for _ in range(self.random.randint(1, 3)))
                word = choice(SIGNS) if chance() < 0.3 else word
                tokens.append(Token(len(text), len(text) + len(word), ""))
                text += word + choice(GAPS)
            clock = (number * 10, number * 10 + 5) if times and chance() < 0.8 else (None, None)
            last = turns[-1] if turns else None
            if last and (last.number, last.speaker) == (number, speaker):
                number += 1
            turns.append(Turn(number, speaker, first, len(tokens), *clock))
            number += choice((0, 1, 1, 1, 4))
        return Passage(text, tuple(tokens), tuple(turns))

    def span(self, count: int, longest: int) -> tuple[int, int]:
        """Some tokens of so many."""
        start = self.random.randrange(count)
        return start, min(count, start + self.random.randint(1, longest))

    # --- answers ----------------------------------------------------------------------------

    def answer(self, count: int, anchor: Anchor) -> Answer:
        """Any answer to a number in a passage of so many tokens."""
        choice = self.random.choice
        heads = self.heads(count, anchor)
        if heads and self.random.random() < 0.6:
            relation = choice(tuple(Relation)) if len(heads) > 1 else None
            return Answer(Kind.REFERENCE, heads, relation, comment=choice(WORDS))
        kind = choice([kind for kind in Kind if kind is not Kind.REFERENCE])
        sort = choice((None, *Sort)) if kind is Kind.OTHER else None
        return Answer(kind, (), None, sort, choice((None, *WORDS[2:])), choice(WORDS))

    def heads(self, count: int, anchor: Anchor) -> tuple[Head, ...]:
        """None to three heads with one to three mentions each."""
        heads = []
        for _ in range(self.random.randint(0, 3)):
            mentions = [self.mention(count, anchor) for _ in range(self.random.randint(1, 3))]
            kept = list(dict.fromkeys(one for one in mentions if one is not None))
            live = [one for one in kept if one.origin is not Origin.REMOVED]
            if live:
                rest = [one for one in kept if one is not live[0]]
                heads.append(Head((live[0], *rest)))
        return tuple(heads)

    def mention(self, count: int, anchor: Anchor) -> Mention | None:
        """A mention with its head anywhere in it, but not in the number."""
        start, end = self.span(count, 4)
        free = [i for i in range(start, end) if not anchor.start <= i < anchor.end]
        if not free:
            return None
        head = end - 1 if end - 1 in free else self.random.choice(free)
        return Mention(start, end, head, self.random.choice(tuple(Origin)))

    def vote(self, name: str, role: Role, answer: Answer, type_: str = "person") -> Vote:
        """A vote with or without all that may be known of it."""
        choice = self.random.choice
        return Vote(
            name,
            role,
            answer,
            choice(TIMES),
            choice((None, 0.0, 0.1, 12.25, 1e6, 1 / 3)),
            choice((True, False)),
            choice((True, False)),
            choice((None, 0, 7)),
            choice((None, "r/1", "é")),
            type_,
        )

    def record(self, passage: Passage, anchor: Anchor) -> ExportRecord:
        """What is said of one number; often nothing."""
        count, chance, choice = len(passage.tokens), self.random.random, self.random.choice
        names = self.random.sample(NAMES, self.random.randint(0, 4))
        votes = [self.vote(name, Role.ANNOTATOR, self.answer(count, anchor)) for name in names]
        if chance() < 0.3:
            model = self.answer(count, anchor)
            votes.append(self.vote("m 1.0", Role.ANNOTATOR, model, choice(("model",))))
        gold: Gold | None = None
        if chance() < 0.6:
            gold = self._gold(self.answer(count, anchor), votes, names)
            if gold.rule is Rule.EXPERT and gold.adjudicator:
                votes.append(self.vote(gold.adjudicator, Role.ADJUDICATOR, gold.answer))
        flags = {
            (name, who): FlagMark(name, who, choice(TIMES), self.proposal(name, count, anchor))
            for name in FlagName
            for who in NAMES
            if chance() < 0.04
        }
        return ExportRecord(
            anchor_id(passage.digest, anchor),
            passage,
            anchor,
            choice((None, "train", "dev", "É x")),
            gold,
            tuple(votes),
            tuple(flags.values()),
        )

    def proposal(self, name: FlagName, count: int, anchor: Anchor) -> Anchor | None:
        """A span that a flag proposes, or none; never the number's own."""
        span = Anchor(*self.span(count, 4))
        may = name is FlagName.ANCHOR and span != anchor
        return span if may and self.random.random() < 0.7 else None

    def _gold(self, answer: Answer, votes: Sequence[Vote], names: Sequence[str]) -> Gold:
        rule = self.random.choice(tuple(Rule))
        if rule in BY_RULE:
            made_of = tuple(sorted((v.annotator, v.answered_at) for v in votes))
            return Gold(answer, rule, None, self.random.choice(TIMES), made_of)
        adjudicator = self.random.choice(NAMES) if rule is Rule.EXPERT else None
        return Gold(answer, rule, adjudicator, self.random.choice((None, *TIMES)))


def random_records(seed: int, number: int) -> list[ExportRecord]:
    """So many records or a few more, drawn by a seed."""
    return Chance(Random(seed)).records(number)
