"""A tokenizer, an encoder and examples of a few words, made on the spot."""

import string

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from nfh_models.domain import (
    Anchor,
    Kind,
    Mention,
    Passage,
    Relation,
    Token,
    Turn,
    class_answer,
    reference_answer,
)
from nfh_models.encoder.backbone import Backbone, Bert, BertShape, Pieces, Specials
from nfh_models.encoder.features import EncoderFeaturiser
from nfh_models.identification.base import Example, SentenceNumber
from nfh_models.parsing.base import WordSpan
from nfh_models.resolution.base import Item, ResolutionExample

SPECIALS = Specials(cls="[CLS]", sep="[SEP]", pad="[PAD]", unk="[UNK]")
WHOLE = "i have dog cat year old he is two three six you want of the , . ? dollar ##s".split()

ARCHITECTURE: dict[str, object] = {
    "model_type": "bert",
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "hidden_act": "gelu",
}


def tokenizer() -> Tokenizer:
    """WordPiece over a few words, all small letters and digits."""
    characters = [*string.ascii_lowercase, *string.digits]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WHOLE, *characters]
    pieces += [f"##{one}" for one in characters]
    vocabulary = {one: place for place, one in enumerate(dict.fromkeys(pieces))}
    made = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    made.normalizer = BertNormalizer(lowercase=True)
    made.pre_tokenizer = BertPreTokenizer()
    made.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    return made


def pieces() -> Pieces:
    return Pieces(tokenizer(), SPECIALS)


def featuriser(window: int = 170, limit: int = 64) -> EncoderFeaturiser:
    return EncoderFeaturiser(pieces(), window, 0.6, limit)


def backbone(seed: int = 0) -> Backbone:
    """Two layers of 16, with weights by chance."""
    own = pieces()
    architecture = ARCHITECTURE | {"vocab_size": own.size}
    torch.manual_seed(seed)
    import msgspec

    return Backbone(Bert(msgspec.convert(architecture, BertShape)), architecture, own, "tiny")


def item(*turns: str) -> Item:
    """Turns as "Ann: I have [ two ] ." with spaces between tokens and the anchor in [ ]."""
    words: list[str] = []
    made: list[Turn] = []
    start = end = 0
    for number, turn in enumerate(turns):
        speaker, _, said = turn.partition(": ")
        first = len(words)
        for word in said.split():
            if word == "[":
                start = len(words)
            elif word == "]":
                end = len(words)
            else:
                words.append(word)
        made.append(Turn(number, speaker, first, len(words)))
    tokens, place = [], 0
    for word in words:
        lemma = word.lower().removesuffix("s") if len(word) > 2 else word.lower()
        tokens.append(Token(place, place + len(word), lemma))
        place += len(word) + 1
    return Item(Passage(" ".join(words), tuple(tokens), tuple(made)), Anchor(start, end))


def reference(one: Item, *heads: str, relation: Relation | None = None) -> ResolutionExample:
    """Gold at the first token with each of these forms."""
    words = [one.passage.word(place) for place in range(len(one.passage.tokens))]
    places = [words.index(head) for head in heads]
    gold = reference_answer(([Mention(place, place + 1, place)] for place in places), relation)
    return ResolutionExample(one, gold, "line 1", one.passage.digest)


def implicit(one: Item, kind: Kind) -> ResolutionExample:
    return ResolutionExample(one, class_answer(kind), "line 1", one.passage.digest)


def number(sentence: str, *, nfh: bool) -> Example:
    """A number in its sentence, in [ ]."""
    words = sentence.split()
    start, end = words.index("["), words.index("]")
    kept = [word for word in words if word not in ("[", "]")]
    case = SentenceNumber(WordSpan(kept, [True] * len(kept)), start, end - 1)
    return Example(case, nfh, "line 1", sentence)


DOGS = item("Ann: I have dogs .", "Ben: I have [ two ] .")
AGE = item("Ann: he is [ six ] .")
CATS = item("Ann: the cats ? you want", "Ann: I have [ three ] of the cats .")

LESSONS = [reference(DOGS, "dogs"), implicit(AGE, Kind.AGE), reference(CATS, "cats")]
NUMBERS = [
    number("I have [ two ] dogs .", nfh=False),
    number("I have [ two ] .", nfh=True),
    number("he is [ six ] .", nfh=True),
    number("you want [ three ] cats .", nfh=False),
]
