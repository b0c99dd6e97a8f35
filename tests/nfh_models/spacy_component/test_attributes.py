"""What Doc, Span and Token say, and that it survives whatever is done to a Doc."""

import json
import pickle
import warnings
from collections.abc import Callable

import pytest
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span, Token

from nfh_models.spacy_component.attributes import PLAIN, clear, register

TEXT = "I have two dogs and she has two hundred. Are you two done? See you at nine."
SAID = [("two hundred", "dogs"), ("two", "PEOPLE"), ("nine", "TIME")]


def said(doc: Doc) -> list[tuple[str, str]]:
    return [(span.text, str(span._.nfh_head)) for span in doc._.nfh]


@pytest.fixture
def doc(nlp: Language) -> Doc:
    return nlp(TEXT)


def test_only_the_very_span_is_one(doc: Doc) -> None:
    anchor = doc._.nfh[0]
    start, end = anchor.start, anchor.end
    assert end - start == 2
    spans = {(s, e) for s in range(len(doc)) for e in range(s + 1, len(doc) + 1)}
    marked = {(s, e) for s, e in spans if doc[s:e]._.is_nfh}
    assert marked == {(span.start, span.end) for span in doc._.nfh}
    assert [token.i for token in doc if token._.is_nfh] == [
        token.i for span in doc._.nfh for token in span
    ]


def test_a_reference(doc: Doc) -> None:
    span = doc._.nfh[0]
    assert isinstance(span, Span)
    assert isinstance(span._.nfh_head, Token)
    assert (span._.nfh_head.i, span._.nfh_heads) == (3, (doc[3],))
    assert (span._.is_implicit, span._.is_deter_nfh) == (False, False)
    assert span._.nfh_cue == "nearest-noun"
    for token in span:
        assert token._.nfh_heads == (doc[3],)
        assert token._.nfh_rule == span._.nfh_rule


def test_a_class(doc: Doc) -> None:
    span = doc._.nfh[1]
    assert (span._.nfh_head, span._.nfh_heads) == ("PEOPLE", ("PEOPLE",))
    assert (span._.is_implicit, span._.is_deter_nfh) == (True, True)
    assert (span._.nfh_rule, span._.nfh_cue) == ("you-two", "you-two")


def test_what_is_none(doc: Doc) -> None:
    for where in (doc[3], doc[2:4], doc[2], doc[:]):
        assert (where._.is_nfh, where._.is_deter_nfh, where._.is_implicit) == (False,) * 3
        assert (where._.nfh_head, where._.nfh_heads) == (None, ())
        assert (where._.nfh_rule, where._.nfh_cue) == (None, None)


def test_several_heads(nlp: Language) -> None:
    doc = nlp("Three of the knives and forks are missing.")
    (span,) = doc._.nfh
    assert [str(head) for head in span._.nfh_heads] == ["knives", "forks"]
    assert span._.nfh_head.text == "knives"
    assert span._.is_deter_nfh


def test_what_is_kept_is_plain(doc: Doc) -> None:
    kept = [value for key, value in doc.user_data.items() if key[1] in PLAIN]
    assert kept
    json.dumps(kept, allow_nan=False)
    as_json = doc.to_json(underscore=["is_nfh", "nfh_rule"])["underscore_span"]
    assert [one["value"] for one in as_json["is_nfh"]] == [True] * 3


def _from_bin(doc: Doc) -> Doc:
    kept = DocBin(store_user_data=True, docs=[doc]).to_bytes()
    return next(iter(DocBin().from_bytes(kept).get_docs(doc.vocab)))


@pytest.mark.parametrize(
    "through",
    [
        lambda doc: doc.copy(),
        lambda doc: Doc(doc.vocab).from_bytes(doc.to_bytes()),
        lambda doc: pickle.loads(pickle.dumps(doc)),
        _from_bin,
        lambda doc: doc[:].as_doc(copy_user_data=True),
        lambda doc: Doc.from_docs([doc]),
    ],
    ids=["copy", "bytes", "pickle", "docbin", "as_doc", "from_docs"],
)
def test_copies_have_it(doc: Doc, through: Callable[[Doc], Doc]) -> None:
    other = through(doc)
    assert said(other) == SAID
    assert all(span.doc is other for span in other._.nfh)
    assert other._.nfh[0]._.nfh_head.doc is other
    assert [token._.is_nfh for token in other] == [token._.is_nfh for token in doc]


def test_parts_and_sums(doc: Doc) -> None:
    parts = [sentence.as_doc(copy_user_data=True) for sentence in doc.sents]
    assert [said(part) for part in parts] == [[one] for one in SAID]
    assert said(Doc.from_docs([*parts[1:], *parts])) == [*SAID[1:], *SAID]


def test_a_part_without_the_head(doc: Doc) -> None:
    part = doc[4:10].as_doc(copy_user_data=True)
    (span,) = part._.nfh
    assert (span.text, span._.nfh_head, span._.nfh_heads) == ("two hundred", None, ())
    assert span._.is_implicit is False


def test_merged_tokens(doc: Doc) -> None:
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:4])
        retokenizer.merge(doc[7:9])
    assert said(doc) == [("two hundred", "two dogs"), *SAID[1:]]
    assert [len(span) for span in doc._.nfh] == [1, 1, 1]
    assert doc[6]._.is_nfh
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[5:7])
    assert said(doc) == SAID[1:]


def test_a_second_run_starts_anew(nlp: Language, doc: Doc) -> None:
    before = dict(doc.user_data)
    doc._.nfh[0]._.nfh_rule = "by hand"
    doc.user_data["theirs"] = 1
    assert said(nlp.get_pipe("nfh")(doc)) == SAID
    assert dict(doc.user_data) == before | {"theirs": 1}
    clear(doc)
    assert (doc._.nfh, doc.user_data) == ([], {"theirs": 1})


@pytest.mark.parametrize("text", ["", " ", "\n\n \t", "\x00", "no number here", "(", "\u200b"])
def test_nothing_to_find(nlp: Language, text: str) -> None:
    doc = nlp(text)
    assert (doc._.nfh, doc._.has_nfh, doc.user_data) == ([], False, {})


def test_white_space_tokens(nlp: Language) -> None:
    doc = nlp("I have  two\n\n dogs   and she has   two   hundred .\n")
    assert any(token.is_space for token in doc)
    assert said(doc) == [("two   hundred", "dogs")]


def test_a_line_break_behind_a_sentence_begins_a_turn(nlp: Language) -> None:
    (span,) = nlp("How old is the cat?\nEleven.")._.nfh
    assert (span.text, span._.nfh_head) == ("Eleven", "AGE")


def test_somebody_elses_attribute_gives_way_with_a_warning(nlp: Language) -> None:
    Token.set_extension("is_nfh", default="theirs", force=True)
    with pytest.warns(UserWarning, match="attribute is_nfh of Token gives way"):
        register()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register()
    assert said(nlp(TEXT)) == SAID
    assert [token.text for token in nlp("See you at nine.") if token._.is_nfh] == ["nine"]
