"""Where what is missing is put in, where the text says it already, and what stands around."""

import pytest

from nfh_models.domain import Anchor, Kind, Mention, class_answer, reference_answer
from nfh_tui.widgets.evidence_rows import RowBuilder, fitted, sentence_parts
from nfh_tui.widgets.substitution import fill, sentence_of, untokenized

from .test_evidence_readings import at, passage_of

NOUNS = "I saw the cat and a dog , a horse and some sheep at the village pond|."


@pytest.fixture
def read(make):
    """Reads a passage of a turn that names things, and one with a number."""

    def made(said, anchor, answer, room=96):
        passage = passage_of(NOUNS, said)
        token = at(passage, anchor)
        item = make.item(passage, (token, token + 1))
        if isinstance(answer, Kind):
            return fill(item, class_answer(answer), room)
        tokens = [at(passage, word) for word in answer.split()]
        return fill(item, reference_answer([[Mention(t, t + 1, t)] for t in tokens]), room)

    return made


@pytest.mark.parametrize(
    ("said", "anchor", "answer", "text"),
    [
        ("Take two more|.", "two", "dog", "Take two more [dogs]."),
        ("There|'s one other here|.", "one", "dog", "There's one other [dog] here."),
        ("Take six or so|.", "six", "dog", "Take six or so [dogs]."),
        ("One and a half|, please|.", "One", "dog", "One and a half [dogs], please."),
        ("Take two of them|.", "two", "dog", "Take two [dogs] of them."),
        ("I got a 6 , a 5|.", "6", "dog", "I got a 6 [dog], a 5."),
        ("Nearly a 100|.", "100", Kind.AGE, "Nearly a 100 [years old]."),
        ("Love one another|.", "one", Kind.PEOPLE, "Love one another."),
        ("Class of ' 85|.", "85", Kind.YEAR, "Class of [the year] '85."),
        ("In 1985|.", "1985", Kind.YEAR, "In [the year] 1985."),
        ("In the year 1985|.", "1985", Kind.YEAR, "In the year 1985."),
        ("It cost $ 5 then|.", "5", Kind.CURRENCY, "It cost $5 then."),
        ("It cost $ 1 , 100 then|.", "100", Kind.CURRENCY, "It cost $1, 100 then."),
        ("It cost 5 € then|.", "5", Kind.CURRENCY, "It cost 5 € then."),
        ("A ninety|-|year|-|old man|.", "ninety", Kind.AGE, "A ninety-year-old man."),
        ("She is ninety|.", "ninety", Kind.AGE, "She is ninety [years old]."),
        ("At the age of six|.", "six", Kind.AGE, "At the age of six [years]."),
        ("Come at six p.m. then|.", "six", Kind.TIME, "Come at six p.m. then."),
        ("You gon na take one|?", "one", "dog", "You gonna take one [dog]?"),
        ('" Take one|. " Then he left|.', "one", "dog", '"Take one [dog]."'),
        ("`` Take one . '' Then , he left .", "one", "dog", '"Take one [dog]."'),
        ("Ask Mr . Hall for two|. Now|.", "two", "dog", "Ask Mr. Hall for two [dogs]."),
        ("( two )", "two", "dog", "(two [dogs])"),
    ],
)
def test_where_it_is_put_in(read, said, anchor, answer, text):
    assert read(said, anchor, answer).text == text


def test_parts_of_a_reading_are_its_text(read):
    for said, anchor, answer in (
        ("It cost $ 5 then|.", "5", "dog"),
        ("Take two more|.", "two", "dog"),
        ("Class of ' 85|.", "85", Kind.YEAR),
    ):
        made = read(said, anchor, answer)
        assert "".join(text for text, _ in sentence_parts(made)) == made.text


LONG = "I would have told you long before now that we need three|, my friend|, for a day|."


def test_of_many_nouns_the_first_are_put_in_and_the_words_before_stay(read):
    whole = read(LONG, "three", "cat dog horse sheep pond", 200).text
    assert "[cats / dogs / horses / sheep / ponds]" in whole
    for room in range(60):
        made = read(LONG, "three", "cat dog horse sheep pond", room)
        assert made.put.startswith("cats / ")
        assert made.put.endswith(("/ +3", "/ +4"))
        assert made.before.endswith("before now that we need")
        assert made.after.startswith(",")


@pytest.mark.parametrize("width", range(30, 110, 7))
@pytest.mark.parametrize("lines", [1, 2, 3])
def test_a_reading_takes_the_lines_it_may_where_it_can(make, width, lines):
    passage = passage_of(NOUNS, LONG)
    token = at(passage, "three")
    item = make.item(passage, (token, token + 1))
    made = fitted(item, reference_answer([[Mention(3, 4, 3)]]), width, 3, lines)
    rows = RowBuilder(width)
    rows.text(sentence_parts(made), indent=3)
    assert len(rows.made) <= max(lines, 2 if width < 58 else 1)
    assert "we need three [cats]" in made.text


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("One|. Two|. Six|.", "Two."),
        ('He said|: " Two|. " Six|.', 'He said: " Two. "'),
        ('" One|. " Two|. Six|.', "Two."),
        ("( Two|. ) Six|.", "( Two. )"),
        ("Dr . X|. Two|.", "Dr . X. Two."),
        ("Not I|. Two|.", "Two."),
        ("Two", "Two"),
    ],
)
def test_a_sentence_ends_with_what_closes_it(said, sentence):
    passage = passage_of(said)
    token = at(passage, "Two")
    assert passage.words(*sentence_of(passage, Anchor(token, token + 1))) == sentence


@pytest.mark.parametrize(
    ("files", "written"),
    [
        ("I do n't , ok ?", "I don't, ok?"),
        ("`` I do , '' -LRB- he said -RRB- .", '"I do," (he said).'),
        ("got ta go ; wan na ?", "gotta go; wanna?"),
        ("£ 5 ( 6 % )", "£5 (6%)"),
        ("I can not .", "I can not."),
        ("Nan na said", "Nan na said"),
    ],
)
def test_blanks_of_files_of_tokens_are_left_out(files, written):
    assert untokenized(files) == written
