"""A sentence read again with an answer in it; singular and plural; a noun's modifiers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfh_models.domain import (
    Answer,
    Kind,
    Mention,
    Passage,
    Relation,
    Sort,
    Token,
    Turn,
    class_answer,
    reference_answer,
)
from nfh_tui.display_text import visible, width_of
from nfh_tui.widgets.substitution import (
    LEAST_BEFORE,
    LEAST_BEHIND,
    fill,
    free_form,
    is_name,
    is_one,
    is_plural,
    noun_form,
    phrase_start,
    plural_of,
    sentence_of,
    singular_of,
    word_class,
)

LEMMAS = {
    "pumps": "pump", "onions": "onion", "geese": "goose", "people": "person", "calves": "calf",
    "pounds": "pound", "boots": "boot", "sisters": "sister", "germans": "german",
}  # fmt: skip


def passage_of(*turns):
    """A passage of turns, words parted by blanks; | joins two tokens without a blank."""
    text, tokens, made = "", [], []
    for number, said in enumerate(turns):
        first = len(tokens)
        text += "\n" if text else ""
        for place, word in enumerate(said.split(" ")):
            text += " " if place else ""
            for piece in word.split("|"):
                lemma = LEMMAS.get(piece.lower(), piece.lower())
                tokens.append(Token(len(text), len(text) + len(piece), lemma))
                text += piece
        made.append(Turn(number, "Ada", first, len(tokens)))
    return Passage(text, tuple(tokens), tuple(made))


def at(passage, word, number=0):
    """The place of a word."""
    found = [t for t in range(len(passage.tokens)) if passage.word(t) == word]
    return found[number]


def to(*tokens, relation=None):
    return reference_answer([[Mention(t, t + 1, t)] for t in tokens], relation)


@pytest.fixture
def item_of(make):
    def built(anchor, *turns):
        passage = passage_of(*turns)
        token = at(passage, anchor)
        return make.item(passage, (token, token + 1))

    return built


def test_a_noun_is_put_behind_the_number_in_the_number_it_asks_for(item_of):
    item = item_of("one", "Our pumps are old|.", "Buy a new one|, please|. Soon|.")
    noun = to(at(item.passage, "pumps"))
    made = fill(item, noun, 60)
    assert made.text == "Buy a new one [pump], please."
    assert (made.before, made.number, made.put, made.after) == (
        "Buy a new", "one", "pump", ", please.",
    )  # fmt: skip
    item = item_of("three", "A pump broke|.", "Buy three|.")
    assert fill(item, to(at(item.passage, "pump")), 60).text == "Buy three [pumps]."


@pytest.mark.parametrize(
    ("relation", "text"),
    [
        (Relation.AND, "Take two [pump and hose]."),
        (Relation.OR, "Take two [pumps or hoses]."),
        (Relation.UNSTATED, "Take two [pumps / hoses]."),
    ],
)
def test_several_heads_are_joined_by_their_relation(item_of, relation, text):
    item = item_of("two", "The pump and the hose leak|.", "Take two|.")
    tokens = [at(item.passage, word) for word in ("pump", "hose")]
    assert fill(item, to(*tokens, relation=relation), 60).text == text


def test_three_heads_are_a_list(item_of):
    item = item_of("one", "A pen , a cup or a lamp ?", "I have one|.")
    tokens = [at(item.passage, word) for word in ("pen", "cup", "lamp")]
    assert fill(item, to(*tokens, relation=Relation.OR), 60).put == "pen, cup or lamp"


def test_a_span_goes_in_without_its_article_and_a_long_one_as_its_head(item_of):
    item = item_of("six", "The red onion is off|.", "Peel six|.")
    first = at(item.passage, "The")

    def span(start, end):
        return reference_answer([[Mention(start, end, first + 2)]])

    assert fill(item, span(first, first + 3), 60).put == "red onions"
    assert fill(item, span(first, first + 5), 60).put == "onions"


@pytest.mark.parametrize(
    ("anchor", "answer", "text"),
    [
        ("one", class_answer(Kind.PEOPLE), "It was one [person]."),
        ("50", class_answer(Kind.PEOPLE), "It was 50 [people]."),
        ("50", class_answer(Kind.AGE), "It was 50 [years old]."),
        ("one", class_answer(Kind.AGE), "It was one [year old]."),
        ("1994", class_answer(Kind.YEAR), "It was [the year] 1994."),
        ("50", class_answer(Kind.YEAR, noun="year"), "It was 50 [years]."),
        ("50", class_answer(Kind.CURRENCY), "It was 50 [in money]."),
        ("50", class_answer(Kind.CURRENCY, noun="euro"), "It was 50 [euros]."),
        ("six", class_answer(Kind.TIME), "It was six [o'clock]."),
        ("50", class_answer(Kind.TIME), "It was 50 [by the clock]."),
        ("50", class_answer(Kind.OTHER, Sort.NUMBER), "It was 50 [the number itself]."),
        ("50", class_answer(Kind.OTHER, Sort.CODE), "It was 50 [a code]."),
        ("50", class_answer(Kind.OTHER, Sort.MEASURE, "km/h"), "It was 50 [km/h]."),
        ("one", class_answer(Kind.OTHER, Sort.NOUN, "joke"), "It was one [joke]."),
        ("50", class_answer(Kind.OTHER), "It was 50 [something else]."),
        ("50", class_answer(Kind.UNKNOWN), "It was 50 [?]."),
        ("50", class_answer(Kind.NOT_NFH), "It was 50."),
    ],
)
def test_a_class_is_read_in_words_of_its_own(item_of, anchor, answer, text):
    assert fill(item_of(anchor, f"It was {anchor}|."), answer, 60).text == text


def test_nothing_is_read_of_damaged_words_nor_where_no_head_is_given(item_of):
    item = item_of("one", "It was one|.")
    assert fill(item, class_answer(Kind.BROKEN), 60) is None
    assert fill(item, Answer(Kind.NFH), 60) is None


def test_of_a_number_that_is_cut_the_whole_is_read(item_of):
    item = item_of("twenty", "She|'s hardly past twenty|-|two|!")
    assert fill(item, class_answer(Kind.AGE), 60).text == (
        "She's hardly past twenty-two [years old]!"
    )
    item = item_of("one", "It was one hundred|.")
    assert fill(item, class_answer(Kind.PEOPLE), 60).text == "It was one hundred [people]."


def test_money_is_read_in_the_nearest_coin_that_is_named(item_of):
    item = item_of("twelve", "Fifty cent for that ? And ten pounds ?", "I paid twelve|.")
    assert fill(item, class_answer(Kind.CURRENCY), 60).put == "pounds"


def test_only_the_sentence_of_the_turn_is_read_clipped_at_whole_words(item_of):
    item = item_of(
        "one",
        "Before that|.",
        "Long ago|. It|'s true that I have n't seen one|, ever|, in all of this "
        "long and rainy summer|! But then|.",
    )
    passage = item.passage
    assert passage.words(*sentence_of(passage, item.anchor)).startswith("It's true")
    whole = fill(item, class_answer(Kind.UNKNOWN), 200).text
    assert whole == (
        "It's true that I haven't seen one [?], ever, in all of this long and rainy summer!"
    )
    clipped = fill(item, class_answer(Kind.UNKNOWN), 40)
    assert clipped.text == "… true that I haven't seen one [?], ever, …"
    for room in range(60):
        made = fill(item, class_answer(Kind.UNKNOWN), room)
        assert not made.before.startswith("… n't")
        assert "one [?]" in made.text


@given(room=st.integers(0, 80), anchor=st.integers(0, 14), seed=st.integers(0, 999))
def test_hostile_text_is_read_in_about_the_room_there_is(make, hostile, room, anchor, seed):
    passage = hostile(" ")
    item = make.item(passage, (anchor, anchor + 1))
    head = seed % len(passage.tokens)
    if head == anchor:
        return
    made = fill(item, to(head), room)
    longest = width_of(visible(f"{made.number} [{made.put}]"))
    least = longest + LEAST_BEFORE + LEAST_BEHIND
    assert width_of(visible(made.text)) <= max(room, least) + 8


def test_one_is_what_asks_for_a_singular(item_of):
    asked = {word: is_one(item_of(word, f"It was {word}|.")) for word in ("one", "1", "0.5")}
    assert all(asked.values())
    for word in ("two", "0", "1.5", "twenty-one", "7-7-3"):
        assert not is_one(item_of(word, f"It was {word}|."))


# --- singular and plural --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("pump", "pumps"), ("box", "boxes"), ("church", "churches"), ("story", "stories"),
        ("boy", "boys"), ("hero", "heroes"), ("knife", "knives"), ("man", "men"),
        ("woman", "women"), ("person", "people"), ("goose", "geese"), ("sheep", "sheep"),
        ("percent", "percent"), ("km/h", "km/h"), ("%", "%"), ("roof", "roofs"),
        ("German", "Germans"), ("human", "humans"), ("fireman", "firemen"),
    ],
)  # fmt: skip
def test_plurals(one, many):
    assert plural_of(one) == many
    if one != many:
        assert is_plural(many)
        assert singular_of(many) == one
    assert not is_plural(one)
    assert singular_of(one) == one
    assert plural_of(many) == many


def test_the_passages_own_plural_comes_before_a_made_one_and_names_stay():
    passage = passage_of("The calves saw a calf and Ann Strand with them|.")
    assert noun_form(passage, at(passage, "calf"), plural=True) == "calves"
    assert noun_form(passage, at(passage, "calves"), plural=False) == "calf"
    assert noun_form(passage, at(passage, "Strand"), plural=True) == "Strand"
    assert noun_form(passage, at(passage, "them"), plural=True) == "them"
    assert free_form("car park", plural=True) == "car parks"
    assert free_form("glasses", plural=True) == "glasses"
    assert free_form("", plural=True) == ""


def test_a_name_at_the_start_of_a_sentence_is_known_by_its_other_places():
    passage = passage_of("Boots hurt|. Paloma left|. I saw Paloma|.", "Ada said so|.")
    names = [
        word for word in ("Boots", "Paloma", "I", "Ada") if is_name(passage, at(passage, word))
    ]
    assert names == ["Paloma", "Ada"]


# --- modifiers ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "word", "phrase", "what"),
    [
        ("I like the green pepper|.", "pepper", "the green pepper", "noun"),
        ("Fresh onions cost more|.", "onions", "Fresh onions", ""),
        ("She sold green onions|.", "onions", "green onions", ""),
        ("We watch you|.", "watch", "watch", "verb?"),
        ("It|'s quince jelly|.", "jelly", "quince jelly", ""),
        ("My sister|'s cakes went|.", "cakes", "sister's cakes", "noun"),
        ("Ask Ann and them|.", "them", "them", "pronoun"),
        ("Ask Ann and them|.", "Ann", "Ann", "name"),
        ("The good old tents|.", "tents", "The good old tents", "noun"),
        ("A shed full of boots|.", "boots", "boots", ""),
    ],
)
def test_modifiers_and_what_a_word_seems_to_be(make, said, word, phrase, what):
    passage = passage_of(said)
    token = at(passage, word)
    item = make.item(passage, (len(passage.tokens) - 1, len(passage.tokens)))
    assert passage.words(phrase_start(passage, token), token + 1) == phrase
    assert word_class(item, token) == what


def test_a_model_that_chose_its_candidates_tells_which_are_nouns(make):
    passage = passage_of("Fresh onions cost more and grow well here|.")
    item = make.item(passage, (8, 9), scores={1: 0.5})
    assert word_class(item, 1) == "noun"
    assert word_class(item, 5) == "no noun?"
    told_of_all = make.item(passage, (8, 9), scores=dict.fromkeys(range(8), 0.5))
    assert word_class(told_of_all, 1) == ""
