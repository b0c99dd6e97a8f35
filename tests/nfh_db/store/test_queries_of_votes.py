"""A model against votes and what is proposed of them, and the order by expected gain."""

import random

import pytest

from nfh_db.query import parse
from nfh_db.records import CompetenceWeight, Prediction, Role, Rule
from nfh_db.store import Store
from nfh_models.domain import Answer, Kind, class_answer
from nfh_tui.editor.votes import annotators_votes, proposal

WORDS = "two dogs saw one dog and three cats"
"""Tokens 1 and 4 have one lemma; 7 has another."""

CHOICES = ("AGE", "YEAR", "OTHER", "1", "4", "7")
NOUN = {"1": "dog", "4": "dog", "7": "cat"}
NAMES = ("ann1", "ann2", "ann3", "ann4")


def predict(store: Store, said: dict[int, tuple[str, str, float, float]]) -> None:
    """Have the active model choose. said: choice, second, their scores, by anchor."""
    model = store.models.ensure("m", "resolution", "r", "1")
    kinds = [
        kind.value for kind in (Kind.YEAR, Kind.AGE, Kind.CURRENCY, Kind.PEOPLE, Kind.TIME)
    ]
    places = [*kinds, Kind.OTHER.value, *map(str, range(8))]
    rows = []
    for anchor, (choice, second, first, other) in said.items():
        scores = tuple({choice: first, second: other}.get(place) for place in places)
        rows.append((anchor, Prediction("m", choice, second, first - other, scores)))
    store.predictions.save(model, rows)


def found(store: Store, text: str) -> list[int]:
    ids = store.queue.ids(parse(text), store.people.ensure("lee"))
    return [id_ for chunk in ids for id_ in chunk]


def says(choice: str, answer: Answer) -> bool | None:
    """Whether a choice is an answer; None where the model cannot say such a thing."""
    if answer.kind in (Kind.NOT_NFH, Kind.BROKEN, Kind.NFH):
        return None
    if answer.kind is Kind.REFERENCE:
        return NOUN.get(choice) in {
            NOUN[str(m.head)] for head in answer.heads for m in head.mentions
        }
    return choice == ("OTHER" if answer.kind is Kind.UNKNOWN else answer.kind.value)


def verdicts(choice: str, answers: list[Answer]) -> bool | None:
    told = [one for one in (says(choice, answer) for answer in answers) if one is not None]
    return any(told) if told else None


@pytest.mark.parametrize("known", [(), (0.95, 0.5, 0.3, 0.6), (0.99, 0.1, 0.1)])
def test_the_model_is_compared_with_the_votes_and_with_what_the_screen_proposes(
    store: Store, kit, known: tuple[float, ...]
) -> None:
    source = random.Random(len(known))
    answers = [kit.to(1), kit.to(4), kit.to(7), *map(class_answer, (Kind.AGE, Kind.YEAR))]
    answers += map(class_answer, (Kind.UNKNOWN, Kind.NOT_NFH, Kind.NFH))
    kit.load(
        store,
        *(
            kit.one(
                WORDS + " !" * line,
                3,
                line=line,
                votes=[
                    kit.vote(name, source.choice(answers[: 3 + line % 6]))
                    for name in NAMES[: source.randint(0, 4)]
                ],
            )
            for line in range(150)
        ),
    )
    weights = [CompetenceWeight(n, p, 30) for n, p in zip(NAMES, known, strict=False)]
    store.competences.remember("test", weights)
    lee = store.people.ensure("lee")
    choices = {id_: source.choice(CHOICES) for id_ in found(store, "")}
    predict(store, {id_: (one, "TIME", 0.6, 0.2) for id_, one in choices.items()})
    among: dict[bool | None, list[int]] = {True: [], False: [], None: []}
    proposed: dict[bool | None, list[int]] = {True: [], False: [], None: []}
    for id_, choice in choices.items():
        item = store.items.read(id_, lee, Role.ADJUDICATOR)
        among[verdicts(choice, [vote.answer for vote in annotators_votes(item)])].append(id_)
        best = proposal(item)
        proposed[verdicts(choice, [best.answer] if best else [])].append(id_)
    assert all(len(ids) > 5 for ids in (*among.values(), *proposed.values()))
    assert found(store, "model=votes") == among[True]
    assert found(store, "model!=votes") == among[False]
    assert found(store, "model=proposal") == proposed[True]
    assert found(store, "model!=proposal") == proposed[False]
    assert found(store, "-model=votes") == sorted(among[False] + among[None])
    neither = set(among[False]) & set(proposed[False])
    assert found(store, "model!=votes,proposal") == sorted(neither)


def test_what_a_decision_most_likely_changes_comes_first(store: Store, kit) -> None:
    age, year = class_answer(Kind.AGE), class_answer(Kind.YEAR)
    cases = {
        "all agree, the model too": (3 * [age], ("AGE", "YEAR", 0.9, 0.1), (0.8 + 0.9) / 2),
        "all agree, the model does not": (
            3 * [age],
            ("YEAR", "AGE", 0.7, 0.3),
            (0.8 + 0.3) / 2,
        ),
        "two of three": ([age, age, year], ("AGE", "YEAR", 0.9, 0.1), (0.6 + 0.9) / 2),
        "against two of three": ([age, age, year], ("OTHER", "TIME", 0.9, 0.1), 0.6 / 2),
        "only one": ([age], None, 2 / 3),
        "only the model": ([], ("AGE", "YEAR", 0.55, 0.45), 0.55),
        "nothing": ([], None, None),
    }
    kit.load(
        store,
        *(
            kit.one(
                WORDS + " !" * line,
                3,
                line=line,
                votes=[kit.vote(n, a) for n, a in zip(NAMES, votes, strict=False)],
            )
            for line, (votes, _, _) in enumerate(cases.values())
        ),
        kit.one(WORDS + " ?", 3, gold=kit.gold(age), votes=[kit.vote("ann1", year)]),
        kit.one(WORDS + " ? ?", 3, gold=kit.gold(age, Rule.EXPERT, "eva")),
        kit.one(
            WORDS + " ? ? ?",
            3,
            gold=kit.gold(age, Rule.MAJORITY),
            votes=[kit.vote("ann1", age)],
        ),
    )
    ids = found(store, "")
    predict(
        store,
        {id_: said for id_, (_, said, _) in zip(ids, cases.values(), strict=False) if said},
    )
    likely = [likely for _, _, likely in cases.values()] + [None, None, 2 / 3]
    ranked = sorted(
        range(len(ids)), key=lambda at: (likely[at] is None, likely[at] or 0.0, ids[at])
    )
    assert found(store, "sort:gain") == [ids[at] for at in ranked]
