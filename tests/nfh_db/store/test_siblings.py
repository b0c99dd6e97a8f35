"""The other numbers of an item's passage, with what is missing there."""

from dataclasses import replace

from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, Sort, class_answer


def test_nouns_of_several_heads_and_of_a_class_are_told_with_a_number(
    store: Store, kit
) -> None:
    one = kit.one("the dogs saw one or two dogs and cats", 3, gold=kit.gold(kit.to(1, 8)))
    joke = class_answer(Kind.OTHER, Sort.NOUN, "joke")
    more = replace(one.anchors[0], anchor=Anchor(5, 6), gold=kit.gold(joke))
    kit.load(store, replace(one, anchors=(one.anchors[0], more)))
    item = store.items.read(1, store.people.ensure("ida"), Role.ADJUDICATOR)
    assert item is not None
    assert [sibling.nouns for sibling in item.siblings] == [(1, 8), ("joke",)]
