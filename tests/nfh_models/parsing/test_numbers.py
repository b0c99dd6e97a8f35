"""The number grammar: each case of the facts' table, as raw text and as the release has it.

Raw text goes through the tokenizer of imports, with the white space it leaves known. The
release's tokens stand between spaces, so that its hyphens say nothing of dashes.
"""

from itertools import groupby
from typing import Any

import pytest

from nfh_models.text.numbers import find_numbers
from nfh_models.text.tokens import spans


def in_text(text: str) -> list[str]:
    """The numbers of raw text, as they stand in it."""
    tokens = spans(text)
    words = [text[start:end] for start, end in tokens]
    glued = [i > 0 and tokens[i - 1][1] == tokens[i][0] for i in range(len(tokens))]
    return [text[tokens[a][0] : tokens[b - 1][1]] for a, b in find_numbers(words, glued)]


def in_release(tokens: str) -> list[str]:
    """The numbers of tokens parted by spaces, white space between them not known."""
    words = tokens.split(" ")
    return [" ".join(words[start:end]) for start, end in find_numbers(words)]


RAW = [
    # hyphens inside
    ("twenty-four", "She is twenty-four now.", "twenty-four"),
    ("other hyphens", "twenty‐four, thirty–two, forty‑one", "twenty‐four|thirty–two|forty‑one"),
    ("an em dash parts", "I said twenty—four of you heard", "twenty|four"),
    ("spaced tens and unit", "We are twenty - four in all.", "twenty - four"),
    ("a dash with spaces parts", "I counted ten - twelve came later.", "ten|twelve"),
    ("twenty-four's", "Twenty-four's a good age.", "Twenty-four"),
    # and, a
    ("a hundred and five", "I have a hundred and five.", "hundred and five"),
    ("one-hundred-and-five", "one-hundred-and-five of them", "one-hundred-and-five"),
    ("and that parts", "five and six", "five|six"),
    ("and before hundreds", "one hundred and two hundred", "one hundred|two hundred"),
    ("between", "between a hundred and two thousand", "hundred|two thousand"),
    (
        "between, inner and",
        "between a hundred and five and a hundred and ten",
        "hundred and five|hundred and ten",
    ),
    # decimals, thousands
    ("decimals", "It was 3.5, not .45.", "3.5|.45"),
    ("comma", "There were 1,000 of them.", "1,000"),
    ("space and 000", "There were 18 000 of them.", "18 000"),
    ("comma and space", "There were 75, 000 of them.", "75, 000"),
    ("mixed fraction", "2 1/2 million, 3 and 1/2, 2½", "2 1/2 million|3 and 1/2|2½"),
    ("spoken decimal", "two point five million", "two point five million"),
    ("at one point", "At one point two of us fell.", "one|two"),
    # apostrophes
    ("'96", "I was born in '96, you in ’97.", "96|97"),
    ("90's", "It was the 90's.", "90"),
    ("80s and 1950s", "the '80s, the 90s and the 1950s", ""),
    ("one's", "One's enough.", "One"),
    # clock
    ("10:30", "Come at 10:30 or 7:30pm.", ""),
    ("10 : 30", "Come at 10 : 30.", ""),
    ("ten thirty", "Come at ten thirty.", "ten thirty"),
    ("five fifty", "It said five fifty.", "five fifty"),
    ("nine oh five", "It is nine oh five.", "nine oh five"),
    ("7AM in one token", "Come at 7AM.", "7AM"),
    ("4am in two", "Come at 4am, or at 7 a.m.", "4|7"),
    ("o'clock", "at five o'clock", "five"),
    # ordinals
    ("ordinals", "the 4th, the 21st, the third", ""),
    ("split ordinal", "for the 40,000 th time", ""),
    ("twenty-first", "the twenty-first century, the twenty first", ""),
    ("one hundred twenty-first", "the one hundred twenty-first, the hundred and first", ""),
    ("two hundredth", "for the two hundredth time", ""),
    ("seconds are no ordinals", "a thirty second delay", "thirty"),
    ("one third", "one third of it", "one"),
    # chains
    ("one-two-three", "Breathe, one-two-three.", "one-two-three"),
    ("7-7-3-2-6", "Dial 7-7-3-2-6.", "7-7-3-2-6"),
    ("36-24-36", "She said 36-24-36, 10-7, 0-7.", "36-24-36|10-7|0-7"),
    ("telephone", "Call 1-800-555-1234 or 555 1234.", "1-800-555-1234|555 1234"),
    ("en dash between digits", "5–10 of them", "5–10"),
    ("ten-four", "That's a big ten-four.", "ten-four"),
    ("digit by digit", "Call nine one one.", "nine one one"),
    ("a year in words", "nineteen ninety-five", "nineteen ninety-five"),
    # lists and pairs
    ("one, two, three", "One, two, three!", "One|two|three"),
    ("dots", "Six... six... six", "Six|six|six"),
    ("two, three hundred miles", "two, three hundred miles", "two|three hundred"),
    ("eight or nine clubs", "eight or nine clubs", "eight|nine"),
    ("five or ten", "five or ten; ten to one; 9 to 5", "five|ten|ten|one|9|5"),
    ("May 17, 2004", "on May 17, 2004", "17|2004"),
    ("June 6 1945", "on June 6 1945", "6|1945"),
    # nouns that count
    ("a dozen", "a dozen eggs", ""),
    ("two dozen", "two dozen eggs", "two"),
    ("half", "Give me half.", ""),
    ("two and a half", "two and a half, 2-and-a-half", "two|2"),
    # signs
    ("99%", "It is 99% water.", "99"),
    ("$5", "It cost $5, # 60, £7, €8, GBP 9 and 3€", "5|60|7|8|9|3"),
    ("a dot left on the token", "It was 3€.", "3€."),
    ("noun behind", "5 dollars, 5 bucks, 100 grand", "5|5|100"),
    ("5k", "5k, 10K, 1.5m, 401k, 3bn, thirty K", "5k|10K|1.5m|401k|3bn|thirty K"),
    # names and codes
    ("Roman numerals", "Henry VII, Part II and IV", ""),
    ("9/11", "since 9/11, at 7/11, 20/20, 1/2", "9/11|7/11|20/20|1/2"),
    ("911", "Call 911 or 411!", "911|411"),
    ("height", "He is 6 ' 5, she is 5' 10.", "6 ' 5|5' 10"),
    ("height in one token", "He is 6'5\" and she 5’9.", "6'5|5’9"),
    ("a year is no height", "5 '96ers and 6 '05", "5|6|05"),
    ("B-52", "a B-52, SD-6, a V8, an M16, S019", ""),
    # long ones
    (
        "eight tokens",
        "fifteen million sixty one thousand and seventy six",
        "fifteen million sixty one thousand and seventy six",
    ),
    ("scales on scales", "five hundred million billion", "five hundred million billion"),
    ("repeated", "two hundred two hundred", "two hundred|two hundred"),
    ("rising", "a thousand two thousand", "thousand|two thousand"),
    # zero
    ("zero", "Zero is a number, zero zero seven", "Zero|zero zero seven"),
    ("nil", "They won two nil.", "two nil"),
    # one
    ("no one", "No one knows; no one.", "one|one"),
    ("anyone", "anyone, someone, everyone, no-one, noone", ""),
    ("one another", "They hate one another.", "one"),
    ("one of these days", "one of these days, at one, for one", "one|one|one"),
    ("high five", "high five, count to three", "five|three"),
    ("loved one", "a loved one, the little ones", "one"),
    ("plural nouns", "ones, twos, twenties, hundreds, thousands", ""),
    ("hundreds of", "hundreds of thousands", ""),
    ("the one two weeks ago", "the one two weeks ago", "one|two"),
    ("you two", "You two five minutes ago", "two|five"),
    ("seven one at a time", "You marry seven one at a time.", "seven|one"),
    # words with a number in them
    ("two-bedroom", "a two-bedroom flat, a twenty-year-old, 24-hour, .45-caliber", ""),
    ("one-on-one", "one-on-one, the one-and-only, two-thirds", ""),
    ("a dash without spaces", "That one-you know it.", "one"),
    # what the lexicon lacked
    ("zillion", "a zillion, gazillion, four zillion", "zillion|gazillion|four zillion"),
    ("run together", "fortytwo, onehundred, sixtynine", "fortytwo|onehundred|sixtynine"),
    ("eleventy", "eleventy, fourty", "eleventy|fourty"),
    # writing
    ("case", "ONE hundred AND Five", "ONE hundred AND Five"),
    ("Arabic-Indic digits", "It is ٣٤ or １２ now.", "٣٤|１２"),
    ("no decimal digits", "五, ½, ², ①, Ⅷ", ""),
    ("sign of a number", "-5, +5, −5", "-5|+5|−5"),
    ("nothing", "", ""),
]

RELEASE = [
    ("one token with a hyphen", "She is twenty-four .", "twenty-four"),
    ("three tokens", "She is twenty - four .", "twenty - four"),
    ("scale behind a hyphen", "thirty - seven hundred twenty", "thirty - seven hundred twenty"),
    ("inner and", "a hundred and five of them", "hundred and five"),
    ("eleven hundred and", "sum of eleven hundred and ninety-seven dollars",
     "eleven hundred and ninety-seven"),
    ("decimals", "3.5 or .45 or 0.45", "3.5|.45|0.45"),
    ("thousands", "1,000 or 18 000 or 6 , 000", "1,000|18 000|6 , 000"),
    ("a no-break space", "2\u00a01/2 million or 0118\u00a0999 881 999",
     "2\u00a01/2 million|0118\u00a0999 881 999"),
    ("apostrophe apart", "since ' 96", "96"),
    ("apostrophe glued", "since '64", "'64"),
    ("90 's", "the 90 's , 30s", "90"),
    ("10:30", "at 10:30 , at 13 : 34", ""),
    ("ten thirty", "at ten thirty", "ten thirty"),
    ("ordinals", "4th , 21st , third , 40,000 th , 6,523 rd , twenty - first", ""),
    ("chains in one token", "one-two-three , 7-7-3-2-6 , 36-24-36",
     "one-two-three|7-7-3-2-6|36-24-36"),
    ("chains in many", "1 - 2 - 7 and 10 - 4 and 7 - 11", "1 - 2 - 7|10 - 4|7 - 11"),
    ("comma list", "One , two , three", "One|two|three"),
    ("to, or", "five or ten , 9 to 5 , 17 , 2004", "five|ten|9|5|17|2004"),
    ("dozen", "a dozen , two dozen", "two"),
    ("half", "half a million , two and a half", "million|two"),
    ("a half in one token", "two-and-a-half years", "two-and-a-half"),
    ("percent and money", "99 % , $ 5 , # 60", "99|5|60"),
    ("thousands by K", "thirty K , 401k", "thirty K|401k"),
    ("three K 's", "the three K 's", "three"),
    ("9/11", "9/11 , 1/1000 , 13.2.74", "9/11|1/1000|13.2.74"),
    ("7AM", "7AM , 4 am , 7 a.m.", "7AM|4|7"),
    ("height", "6 ' 5 and 5 ' 10", "6 ' 5|5 ' 10"),
    ("no one", "No one , no - one , no-one", "one"),
    ("compounds in one token", "two-bedroom , 16-year-old , twenty-first", ""),
    ("a hyphen may be a dash", "Must one - just", "one"),
    ("a year behind a dash", "Missouri - 1882 .", "1882"),
    ("names", "B-52 , SD-6 , V8 , M16 , 3XK", ""),
    ("a day and a year", "August 6 1945 , 16 December 1941", "6|1945|16|1941"),
]  # fmt: skip


def wanted(numbers: str) -> list[str]:
    """The expected numbers of a row."""
    return numbers.split("|") if numbers else []


@pytest.mark.parametrize(("text", "numbers"), [row[1:] for row in RAW], ids=[r[0] for r in RAW])
def test_raw_text(text: str, numbers: str) -> None:
    assert in_text(text) == wanted(numbers)


@pytest.mark.parametrize(
    ("tokens", "numbers"), [row[1:] for row in RELEASE], ids=[r[0] for r in RELEASE]
)
def test_release_tokens(tokens: str, numbers: str) -> None:
    assert in_release(tokens) == wanted(numbers)


def test_case_does_not_matter() -> None:
    for words in ("one HUNDRED And Five", "TWENTY - Four", "10 k", "Nine OH five", "7Pm"):
        assert in_release(words) == [words]
        assert in_release(words.swapcase()) == [words.swapcase()]


def test_spans_are_in_order_and_do_not_overlap() -> None:
    words = "one two - three and 6 ' 5 a hundred and 18 000 then no - one K two K".split()
    found = find_numbers(words)
    ends = [0, *(end for _, end in found)]
    assert all(start >= before for (start, _), before in zip(found, ends, strict=False))
    assert all(start < end <= len(words) for start, end in found)


@pytest.mark.parametrize(
    "piece",
    [
        "one",
        "hundred and",
        *(
            pytest.param(one, marks=pytest.mark.long)
            for one in ("1 -", "five thousand million", "999")
        ),
    ],
)
def test_long_runs_are_read_once(piece: str) -> None:
    """A run of 40,000 parts: reading it again from each place would take minutes."""
    words = [*(piece.split() * 40_000), "end"]
    found = find_numbers(words)
    assert found[0][0] == 0
    assert found[-1][1] >= len(words) - 2


def test_a_token_of_absurd_length_is_no_number() -> None:
    assert find_numbers(["1-" * 500_000 + "1", "two"]) == [(1, 2)]


def shares(rows: list[Any]) -> tuple[float, float]:
    """Share of a release's anchors that are found exactly, and at least in part."""
    exact = touched = 0
    for row in rows:
        found = []
        for _, members in groupby(range(len(row.words)), key=row.turns.__getitem__):
            places = list(members)
            turn = find_numbers(row.words[places[0] : places[-1] + 1])
            found += [(places[0] + start, places[0] + end) for start, end in turn]
        exact += row.anchor in found
        touched += any(start < row.anchor[1] and end > row.anchor[0] for start, end in found)
    return exact / len(rows), touched / len(rows)


@pytest.mark.long
def test_identification_anchors_are_found(identification_rows: list[Any]) -> None:
    """What is missed holds no number; what is hit in part, the release cut or merged."""
    exact, touched = shares(identification_rows)
    assert exact >= 0.985
    assert touched >= 0.998


def test_resolution_anchors_are_found(resolution_rows: list[Any]) -> None:
    exact, touched = shares(resolution_rows)
    assert exact >= 0.975
    assert touched == 1.0
