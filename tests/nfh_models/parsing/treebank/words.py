"""Universal parts of speech and lemmas from the Penn Treebank's tags and the dependencies."""

from collections.abc import Sequence

from nfh_models.text.tokens import lemmas

_PLAIN = {
    "CC": "CCONJ", "CD": "NUM", "DT": "DET", "EX": "PRON", "FW": "X", "JJ": "ADJ", "JJR": "ADJ",
    "JJS": "ADJ", "LS": "X", "MD": "AUX", "NN": "NOUN", "NNS": "NOUN", "NNP": "PROPN",
    "NNPS": "PROPN", "PDT": "DET", "POS": "PART", "PRP": "PRON", "PRP$": "PRON", "RB": "ADV",
    "RBR": "ADV", "RBS": "ADV", "RP": "ADP", "SYM": "SYM", "UH": "INTJ", "WP": "PRON",
    "WP$": "PRON", "WRB": "ADV", "$": "SYM", "#": "SYM",
}  # fmt: skip
_FORMS = {
    "VB": {
        "am": "be", "are": "be", "is": "be", "was": "be", "were": "be", "'m": "be",
        "'re": "be", "'s": "be", "'ve": "have", "'d": "have", "has": "have", "had": "have",
        "did": "do", "does": "do", "done": "do", "broke": "break", "fell": "fall",
        "fixed": "fix", "fixes": "fix", "found": "find", "led": "lead", "left": "leave",
        "lent": "lend", "met": "meet", "rose": "rise", "saw": "see", "spent": "spend",
        "won": "win",
    },
    "MD": {"'ll": "will", "wo": "will", "ca": "can", "'d": "would"},
    "PRP": {"i": "I", "me": "I", "him": "he", "her": "she", "us": "we", "them": "they"},
    "DT": {"an": "a", "these": "this", "those": "that"},
    "RB": {"n't": "not"},
    "JJR": {"better": "good", "worse": "bad", "more": "more"},
    "JJS": {"best": "good", "worst": "bad", "least": "least", "most": "most"},
}  # fmt: skip
"""What simplemma does not know or takes for another word, by tag."""
_AS_IT_STANDS = frozenset(
    ["CC", "CD", "EX", "IN", "MD", "PDT", "POS", "PRP$", "RB", "RP", "TO", "UH", "WDT", "WP",
     "WP$", "WRB", "JJ", "DT", "PRP"]
)  # fmt: skip


def universal(tags: Sequence[str], words: Sequence[str], relations: Sequence[str]) -> list[str]:
    """The universal part of speech of each token."""
    return [
        _one(tag, word.lower(), relation)
        for tag, word, relation in zip(tags, words, relations, strict=True)
    ]


def _one(tag: str, word: str, relation: str) -> str:
    if tag.startswith("VB"):
        return "AUX" if relation.startswith(("aux", "cop")) else "VERB"
    if tag == "IN":
        return "SCONJ" if relation == "mark" else "ADP"
    if tag == "TO":
        return "PART" if relation == "mark" else "ADP"
    if tag == "WDT":
        return "DET" if relation == "det" else "PRON"
    if tag == "DT" and relation not in ("det", "det:predet", "advmod"):
        return "PRON"
    if tag == "RB" and word in ("not", "n't"):
        return "PART"
    return _PLAIN.get(tag, "PUNCT")


def lemma_list(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """The lemma of each token."""
    known = lemmas(words)
    return [
        _lemma(word, tag, found) for word, tag, found in zip(words, tags, known, strict=True)
    ]


def _lemma(word: str, tag: str, found: str) -> str:
    lower = word.lower()
    kind = "VB" if tag.startswith("VB") else tag
    form = _FORMS.get(kind, {}).get(lower)
    if form is not None:
        return form
    if tag.startswith("NNP"):
        return word
    return lower if tag in _AS_IT_STANDS else found
