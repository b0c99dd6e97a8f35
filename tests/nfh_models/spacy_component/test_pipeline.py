"""The component in a pipeline: batches, processes, files, and what gives it too little."""

import os
import pickle
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from nfh_models import ModelsError
from nfh_models.identification.base import Decision, IdentificationRecipeError, SentenceNumber
from nfh_models.identification.svm import Svm, SvmSettings, save_svm
from nfh_models.model_files import ModelFileError
from nfh_models.parsing.base import ParseLayer, ParserError
from nfh_models.spacy_component import NumericFusedHeads
from nfh_models.spacy_component.files import (
    CFG,
    IDENTIFIER,
    ComponentSettings,
    ComponentState,
    LoadedModels,
    encode,
)

Loader = Callable[..., Language]

TEXTS = [
    "I have two dogs and she has three.",
    "Nothing here.",
    "",
    "Are you two done?",
    "See you at nine.",
]
SAID = [[("three", "dogs")], [], [], [("two", "PEOPLE")], [("nine", "TIME")]]


def said(doc: Doc) -> list[tuple[str, str]]:
    return [(span.text, str(span._.nfh_head)) for span in doc._.nfh]


class OnesOnly:
    """An identifier that needs no parser: *one* is a fused head."""

    recipe = "small"
    version = "1"
    needs: frozenset[ParseLayer] = frozenset()
    uses: frozenset[ParseLayer] = frozenset()

    def __init__(self) -> None:
        self.batches: list[int] = []

    def decide(self, cases: Sequence[SentenceNumber]) -> list[Decision]:
        self.batches.append(len(cases))
        return [Decision(case.word_span.words[case.start] == "one", "small") for case in cases]


def ones_only(resolver: str = "none") -> tuple[NumericFusedHeads, OnesOnly]:
    component = NumericFusedHeads("nfh", resolver=resolver)
    identifier = OnesOnly()
    component._loaded = LoadedModels(identifier, None, os.getpid())
    return component, identifier


@pytest.mark.parametrize("size", [1, 2, 100])
def test_batches(nlp: Language, size: int) -> None:
    assert [said(doc) for doc in nlp.pipe(TEXTS, batch_size=size)] == SAID


def test_two_processes(nlp: Language) -> None:
    docs = list(nlp.pipe(TEXTS, n_process=2, batch_size=2))
    assert [said(doc) for doc in docs] == SAID
    assert docs[0]._.nfh[0]._.nfh_head.i == 3


def test_it_can_be_sent_to_a_new_process(nlp: Language) -> None:
    """As processes that are not forked get it."""
    sent = pickle.loads(pickle.dumps(nlp.get_pipe("nfh")))
    assert said(sent(nlp(TEXTS[3]))) == SAID[3]


def test_docs_of_a_batch_are_decided_together() -> None:
    component, identifier = ones_only()
    blank = spacy.blank("en")
    docs = [blank.make_doc("one"), blank.make_doc("two ones and one"), blank.make_doc("")]
    found = [said(doc) for doc in component.pipe(docs, batch_size=3)]
    assert found == [[("one", "None")], [("one", "None")], []]
    assert identifier.batches == [3]


def test_without_a_parser_where_none_is_needed() -> None:
    component, _ = ones_only()
    doc = component(spacy.blank("en")("I saw one. Then two came! One more."))
    assert [(span.start, span.text) for span in doc._.nfh] == [(2, "one")]
    assert doc._.nfh[0]._.nfh_heads == ()
    with pytest.raises(ParserError, match=r"no part of speech.*tagger"):
        ones_only("cues")[0](spacy.blank("en")("I saw one."))


def test_one_bad_doc_of_a_batch(nlp: Language) -> None:
    good = [nlp.make_doc(text) for text in (TEXTS[0], TEXTS[3])]
    parsed = [nlp(doc) for doc in good]
    bad = nlp.make_doc("two of three")
    component = NumericFusedHeads("nfh")
    with pytest.raises(ParserError, match="no dependency"):
        list(component.pipe([parsed[0], bad, parsed[1]]))
    seen: list[str] = []
    component.set_error_handler(lambda _name, _self, docs, error: seen.append(docs[0].text))
    done = list(component.pipe([parsed[0], bad, parsed[1]]))
    assert [said(doc) for doc in done] == [SAID[0], SAID[3]]
    assert seen == ["two of three"]


def test_a_pipeline_without_a_parser_or_tagger(load: Loader) -> None:
    blank = spacy.blank("en")
    blank.add_pipe("nfh")
    with pytest.raises(ParserError, match=r"'nfh' got a doc with no dependency.*a parser"):
        blank("I have two.")
    with pytest.raises(IdentificationRecipeError, match="needs a parser before it"):
        blank.initialize()
    assert blank("")._.nfh == []


def test_a_pipeline_whose_tagger_is_off(load: Loader) -> None:
    """An attribute_ruler alone knows the parts of speech of some words, which is not enough."""
    language = load(disable=["tagger"])
    language.add_pipe("nfh")
    assert "attribute_ruler" in language.pipe_names
    with pytest.raises(ParserError, match="no part of speech"):
        language("I have two dogs and she has three.")


def test_any_component_that_gives_arcs_is_a_parser() -> None:
    Language.component("arcs", func=lambda doc: doc, assigns=["token.dep"])
    blank = spacy.blank("en")
    blank.add_pipe("arcs")
    blank.add_pipe("nfh").initialize(nlp=blank)


def test_it_says_what_it_assigns_and_needs(nlp: Language) -> None:
    analysis = nlp.analyze_pipes()
    assert analysis["problems"]["nfh"] == []
    assert "span._.nfh_heads" in analysis["summary"]["nfh"]["assigns"]
    blank = spacy.blank("en")
    blank.add_pipe("nfh")
    assert blank.analyze_pipes()["problems"]["nfh"] == []  # it depends on the settings


def test_rules_and_small_decide_together(load: Loader, package: Path) -> None:
    pipeline = load()
    component = pipeline.add_pipe("nfh", config={"identifier": "joint", "resolver": "none"})
    component.initialize(nlp=pipeline)
    assert [number.text for number in pipeline("No one has 3 dogs.")._.nfh] == ["one"]
    blank = spacy.blank("en")
    with pytest.raises(IdentificationRecipeError, match="needs a parser before it"):
        blank.add_pipe("nfh", config={"identifier": "joint"}).initialize(nlp=blank)


def test_options_that_are_none() -> None:
    for config, message in (
        ({"resolver": "best"}, r"resolver 'best' of .*nor none nor base nor small nor a"),
        (
            {"identifier": "no/such/folder"},
            r"no/such/folder' .*neither rules nor small nor joint nor a",
        ),
    ):
        blank = spacy.blank("en")
        blank.add_pipe("nfh", config=config)
        with pytest.raises(ModelFileError, match=message):
            blank("I have two.")
    with pytest.raises(
        IdentificationRecipeError, match="empty resolver: use cues, none, base, small, or"
    ):
        NumericFusedHeads("nfh", resolver="")


def test_identification_alone(load: Loader, nlp: Language) -> None:
    component = NumericFusedHeads("nfh", resolver="none")
    (span,) = component(nlp(TEXTS[0]))._.nfh
    assert (span.text, span._.nfh_rule, span._.nfh_cue) == ("three", span._.nfh_rule, None)
    assert span._.nfh_rule
    assert (span._.nfh_head, span._.nfh_heads, span._.is_implicit) == (None, (), False)


# --- files ----------------------------------------------------------------------------------


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A model's folder: only the number *three* is a fused head."""
    folder = tmp_path / "svm-1"
    save_svm(Svm(SvmSettings(), ["anchor=three"], np.array([2.0]), -1.0), folder)
    return folder


def _three_only(language: Language) -> bool:
    found = said(language("I have two. Are you two done? She has three."))
    return [number for number, _ in found] == ["three"]


def test_to_disk_and_back(nlp: Language, tmp_path: Path) -> None:
    folder = tmp_path / "pipeline"
    nlp.to_disk(folder)
    assert sorted(path.name for path in (folder / "nfh").iterdir()) == [CFG]
    again = spacy.load(folder)
    assert [said(again(text)) for text in TEXTS] == SAID
    section = again.config["components"]["nfh"]
    assert section == {"factory": "nfh", "identifier": "rules", "resolver": "cues"}
    assert "nfh" not in spacy.load(folder, exclude=["nfh", "parser", "tagger"]).pipe_names


def test_a_model_goes_with_its_pipeline(nlp: Language, machine: Path, tmp_path: Path) -> None:
    component = NumericFusedHeads("nfh", identifier=str(machine), resolver="none")
    component.to_disk(tmp_path / "nfh")
    content = component.to_bytes()
    alone = component.to_bytes(exclude=["identifier"])
    machine.rename(tmp_path / "elsewhere")
    text = "I have two. Are you two done? She has three."
    for other in (
        NumericFusedHeads("nfh").from_disk(tmp_path / "nfh"),
        NumericFusedHeads("nfh").from_bytes(content),
        NumericFusedHeads("nfh").from_bytes(
            NumericFusedHeads("x").from_bytes(content).to_bytes()
        ),
    ):
        assert [span.text for span in other(nlp(text))._.nfh] == ["three"]
    with pytest.raises(ModelFileError, match="svm-1"):
        NumericFusedHeads("nfh").from_bytes(alone)(nlp(text))
    kept = NumericFusedHeads("nfh").from_bytes(content, exclude=["identifier", "cfg"])
    assert said(kept(nlp(TEXTS[3]))) == SAID[3]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xc1", "not an nfh component"),
        (
            encode(ComponentState(ComponentSettings(identifier="rules", resolver=""), None)),
            "empty resolver",
        ),
        (
            encode(
                ComponentState(
                    ComponentSettings(identifier="rules", resolver="none", format_version=9),
                    None,
                )
            ),
            "newer nfh-tui",
        ),
    ],
)
def test_bytes_that_do_not_hold(content: bytes, message: str) -> None:
    with pytest.raises(ModelsError, match=message):
        NumericFusedHeads("nfh").from_bytes(content)


def test_files_that_do_not_hold(tmp_path: Path, nlp: Language) -> None:
    (tmp_path / CFG).write_text('{"identifier": "rules", "resolver": "cues", "more": 1}')
    with pytest.raises(ModelFileError, match=r"cfg does not hold.*more"):
        NumericFusedHeads("nfh").from_disk(tmp_path)
    leading = ComponentState(
        ComponentSettings(identifier="x", resolver="none"), {"../config.json": b"{}"}
    )
    component = NumericFusedHeads("nfh").from_bytes(encode(leading))
    with pytest.raises(ModelFileError, match="leads elsewhere"):
        component(nlp("two"))
    (tmp_path / IDENTIFIER).mkdir()
    (tmp_path / CFG).unlink()
    (tmp_path / IDENTIFIER / "config.json").write_text("{}")
    with pytest.raises(ModelFileError, match=r"config\.json"):
        NumericFusedHeads("nfh").from_disk(tmp_path)(nlp("two"))


# --- long texts and the entry point -----------------------------------------------------------


def test_a_long_doc_is_looked_at_around_its_numbers(nlp: Language) -> None:
    """What a number sees does not grow with the text: the same heads, wherever it stands."""
    piece = nlp("She has three dogs and I have two. We met at nine. " + "So it went on. " * 20)
    long = Doc.from_docs([piece] * 60, exclude=["user_data"])
    NumericFusedHeads("nfh")(long)
    assert said(long) == said(piece) * 60
    size = len(piece)
    heads = [span._.nfh_head.i for span in long._.nfh if not span._.is_implicit]
    assert heads == [3 + size * times for times in range(60)]


ADDS = (
    "import spacy; nlp = spacy.blank('en'); nlp.add_pipe('nfh'); "
    "print(type(nlp.get_pipe('nfh')).__module__, nlp('')._.has_nfh)"
)


@pytest.mark.long
def test_through_the_entry_point(tmp_path: Path) -> None:
    """In a new process, where nobody has imported the component.

    From source, where the distribution is not installed, its entry points are laid out as an
    installer would.
    """
    environment = dict(os.environ)
    try:
        distribution("nfh-tui")
    except PackageNotFoundError:
        project = Path(__file__).resolve().parents[3] / "pyproject.toml"
        points = tomllib.loads(project.read_text("utf-8"))["project"]["entry-points"]
        info = tmp_path / "nfh_tui-0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: nfh-tui\nVersion: 0\n")
        lines = [f"{name} = {value}" for name, value in points["spacy_factories"].items()]
        (info / "entry_points.txt").write_text("\n".join(["[spacy_factories]", *lines, ""]))
        environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-P", "-c", ADDS],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert (done.stdout, done.returncode) == (
        "nfh_models.spacy_component.component False\n",
        0,
    ), done.stderr
