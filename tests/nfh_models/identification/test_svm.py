"""The support vector machine: fitted by scikit-learn, decided without it."""

import random
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfh_models.identification.base import Example, SentenceNumber, load_identifier
from nfh_models.identification.svm import (
    Extractor,
    Feature,
    Svm,
    SvmSettings,
    load_svm,
    save_svm,
    table_of,
    train_svm,
)
from nfh_models.parsing.base import Parsed, ParseLayer, WordSpan

NOUNS = "cups chairs hours doors".split()
OTHERS = "of . and are".split()


def example(number: int, draw: random.Random) -> Example:
    """A number before a noun, which is no fused head, or before another word, mostly one."""
    noun = draw.random() < 0.5
    word = draw.choice(NOUNS if noun else OTHERS)
    words = ["I", draw.choice(["saw", "took", "want"]), draw.choice(["two", "9"]), word, "."]
    pos = ["PRON", "VERB", "NUM", "NOUN" if noun else "X", "PUNCT"]
    parsed = Parsed(words, pos, pos, heads=[1, 1, 3 if noun else 1, 1, 1])
    label = noun is (draw.random() < 0.05)
    case = SentenceNumber(WordSpan(words, [True] * 5), 2, 3, parsed)
    return Example(case, label, f"line {number}", f"passage {number}")


def examples(count: int = 200, seed: int = 1) -> list[Example]:
    """Examples that can mostly be learnt."""
    draw = random.Random(seed)
    return [example(number, draw) for number in range(count)]


EXAMPLES = examples()
CASES = [one.case for one in EXAMPLES]


@pytest.fixture(scope="module")
def svm() -> Svm:
    """A machine fitted on the examples."""
    return train_svm(EXAMPLES, parser="a parser 1.0")


def test_scores_are_those_of_scikit_learn(svm: Svm) -> None:
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.svm import LinearSVC

    extractor = Extractor(SvmSettings())
    vectorizer = DictVectorizer()
    found = [dict.fromkeys(extractor.features(case), 1.0) for case in CASES]
    matrix = vectorizer.fit_transform(found)
    matrix.indices = matrix.indices.astype(np.int32)
    matrix.indptr = matrix.indptr.astype(np.int32)
    machine = LinearSVC(random_state=1).fit(matrix, [one.nfh for one in EXAMPLES])
    expected = machine.decision_function(matrix)
    assert np.abs(svm.score(svm.featurise(CASES)) - expected).max() < 1e-9
    unseen = [one.case for one in examples(50, seed=2)]
    told = vectorizer.transform([dict.fromkeys(extractor.features(c), 1.0) for c in unseen])
    told.indices = told.indices.astype(np.int32)
    assert [one.nfh for one in svm.decide(unseen)] == list(machine.decision_function(told) > 0)


def test_it_learns_what_there_is_to_learn(svm: Svm) -> None:
    right = sum(
        one.nfh == said.nfh for one, said in zip(EXAMPLES, svm.decide(CASES), strict=True)
    )
    assert right > 0.9 * len(EXAMPLES)


def test_a_decision_names_what_weighed_most(svm: Svm) -> None:
    weights = dict(zip(svm.vocabulary, svm.weights.tolist(), strict=True))
    for case, decision in zip(CASES, svm.decide(CASES), strict=True):
        own = [weights[one] for one in Extractor(SvmSettings()).features(case)]
        assert decision.score == pytest.approx(sum(own) + svm.bias)
        assert decision.nfh is (decision.score > 0)
        assert decision.rule == "svm"
        sizes = [abs(weight) for _, weight in decision.weights]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes == pytest.approx(sorted(map(abs, own), reverse=True)[: len(sizes)])
        assert all(weights[name] == weight for name, weight in decision.weights)


def test_the_same_examples_give_the_same_machine(svm: Svm) -> None:
    again = train_svm(EXAMPLES, parser="a parser 1.0")
    assert again.version == svm.version
    assert again.weights.tolist() == svm.weights.tolist()
    assert train_svm(EXAMPLES, SvmSettings(c=0.1)).version != svm.version


def test_features_never_seen_weigh_nothing(svm: Svm) -> None:
    words = ["zebras", "zoom"]
    strange = SentenceNumber(
        WordSpan(words, [True] * 2), 0, 1, Parsed(words, ["X", "X"], heads=[0, 0])
    )
    (decision,) = svm.decide([strange])
    assert decision.score is not None
    known = sum(weight for _, weight in decision.weights)
    assert decision.score == pytest.approx(known + svm.bias)
    assert svm.decide([]) == []


def test_without_features_that_need_one_it_needs_no_parser() -> None:
    words_only = SvmSettings((Feature.ANCHOR, Feature.WINDOW))
    bare = [Example(SentenceNumber(c.word_span, c.start, c.end), one.nfh, one.where, one.group)
            for c, one in zip(CASES, EXAMPLES, strict=True)]  # fmt: skip
    made = train_svm(bare, words_only)
    assert made.needs == frozenset()
    assert len(made.decide([one.case for one in bare])) == len(bare)
    assert train_svm(EXAMPLES).needs == {ParseLayer.POS, ParseLayer.DEPENDENCY}


def test_a_fitting_that_came_to_no_end_says_so(recwarn: pytest.WarningsRecorder) -> None:
    assert train_svm(EXAMPLES).converged
    # More features than examples, so that the slower of the two ways to fit is taken.
    words_only = SvmSettings((Feature.ANCHOR, Feature.WINDOW))
    draw = random.Random(1)
    hard = []
    for number in range(120):
        words = ["two", *(f"w{draw.randrange(44)}" for _ in range(3))]
        case = SentenceNumber(WordSpan(words, [True] * 4), 0, 1)
        hard.append(Example(case, draw.random() < 0.5, "", str(number)))
    assert not train_svm(hard, msgspec.structs.replace(words_only, c=1e6)).converged
    assert not list(recwarn)


def test_indices_are_of_32_bits() -> None:
    rows = table_of(EXAMPLES, SvmSettings()).rows
    assert rows.indices.dtype == rows.starts.dtype == np.int32


# --- saved and loaded -----------------------------------------------------------------------


def test_a_saved_machine_decides_the_same(svm: Svm, tmp_path: Path) -> None:
    save_svm(svm, tmp_path / "svm-1")
    loaded = load_svm(tmp_path / "svm-1")
    assert loaded.decide(CASES) == svm.decide(CASES)
    assert (loaded.version, loaded.parser, loaded.settings) == (
        svm.version,
        svm.parser,
        svm.settings,
    )
    assert load_identifier("svm", tmp_path / "svm-1").version == svm.version


def test_loading_and_deciding_load_no_framework(svm: Svm, tmp_path: Path) -> None:
    save_svm(svm, tmp_path / "svm-1")
    program = (
        "import sys; "
        "from pathlib import Path\n"
        "from nfh_models.identification.base import load_identifier\n"
        "svm = load_identifier('svm', Path(sys.argv[1]))\n"
        "from nfh_models.identification.base import SentenceNumber\n"
        "from nfh_models.parsing.base import Parsed\n"
        "from nfh_models.parsing.base import WordSpan\n"
        "parsed = Parsed(['two', '.'], ['NUM', 'X'], heads=[0, 0])\n"
        "print(len(svm.decide([SentenceNumber(WordSpan(['two', '.'], [True] * 2), 0, 1, "
        "parsed)])))\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "svm-1")],
        capture_output=True,
        text=True,
        check=True,
    )
    count, modules = ran.stdout.splitlines()
    assert count == "1"
    loaded = set(modules.split())
    assert not loaded & {"sklearn", "scipy", "spacy", "torch", "stanza", "pandas"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(data=st.data())
def test_any_words_survive_being_saved(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    words = data.draw(st.lists(st.text(max_size=5), unique=True, max_size=8))
    numbers = st.floats(-1e300, 1e300, allow_nan=False)
    weights = np.array([data.draw(numbers) for _ in words], np.float64)
    made = Svm(SvmSettings(), words, weights, data.draw(numbers), "a parser")
    folder = tmp_path_factory.mktemp("models") / "one"
    save_svm(made, folder)
    loaded = load_svm(folder)
    assert loaded.vocabulary == made.vocabulary
    assert loaded.weights.tolist() == made.weights.tolist()
    assert loaded.bias == made.bias
    assert loaded.version == made.version
