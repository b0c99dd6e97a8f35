"""spaCy without torch, models without torch's compiler: what nobody needs is not loaded, and
can be loaded afterwards.
"""

import subprocess
import sys

import pytest

from nfh_tui.services.models import is_packaged

TORCH_AFTER = """
import sys
from nfh_models.parsing.spacy_parser import installed_pipelines
installed_pipelines()
assert "spacy" in sys.modules
print("torch" in sys.modules)
import torch
print(torch.tensor([2]).item())
"""


def run(code: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return done.stdout.split()


@pytest.mark.long
def test_spacy_is_loaded_without_torch_and_torch_can_follow() -> None:
    assert run(TORCH_AFTER) == ["False", "2"]


def test_torch_that_is_there_stays() -> None:
    code = (
        "import sys, types; "
        "mine = sys.modules['torch'] = types.ModuleType('torch')\n"
        "from nfh_models.parsing import spacy_parser\n"
        "spacy_parser.import_module = lambda name: print(name, sys.modules['torch'] "
        "is mine)\n"
        "spacy_parser.import_spacy()"
    )
    assert run(code) == ["spacy", "True"]


SENTENCE = """
import sys
from nfh_models.text.tokens import spans
from nfh_tui.services.predict import PredictRequest, tools_for
tools, _ = tools_for(None, PredictRequest())
spans("I have two dogs, and you have one.")
print(tools.parser, *(name in sys.modules for name in ("torch._dynamo", "sympy", "httpx")))
import spacy
import spacy.cli
print(spacy.info is spacy.cli.info, spacy.info(silent=True)["spacy_version"] != "")
"""


@pytest.mark.long
@pytest.mark.skipif(not is_packaged("small"), reason="the package holds no model")
def test_a_sentence_loads_no_parser_no_compiler_and_no_web_client() -> None:
    assert run(SENTENCE) == ["None", "False", "False", "False", "False", "True"]
