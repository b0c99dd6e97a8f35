"""Train the small stanza models on the treebank, offline: `python train.py [FOLDER]`.

Writes pretrain.pt, pos.pt, lemma.pt, depparse.pt and constituency.pt into FOLDER (`model/`
beside this script by default) and prints how well they do on the sentences held out, which
training never sees, not even to choose the best epoch. One thread and fixed
seeds: trained again on the same machine, the weights were the same, number for number.

What stanza would reach out for is switched off: no re-tagging of the trees (its tagger would be
downloaded), no character models, no Java evaluator (`scoring` compares brackets). And its
reader of trees would cut NP-TMP down to NP; here it reads labels whole.
"""

import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from contextlib import chdir
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Self

import convert
import scoring
from brackets import Node
from vectors import write_vectors

HERE = Path(__file__).resolve().parent
SEED = "7"
NAMES = ("pretrain", "pos", "lemma", "depparse", "constituency")


class Comparison:
    """Stands where stanza's trainer would start its Java evaluator."""

    def __init__(self, **_: object) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        pass

    def process(self, results: Iterable) -> SimpleNamespace:
        """What stanza asks of the evaluator; F1 in percent."""
        f1 = scoring.bracket_f1(
            (
                scoring.brackets_in(str(result.gold)),
                scoring.brackets_in(str(result.predictions[0].tree)),
            )
            for result in results
        )
        return SimpleNamespace(f1=100 * f1, kbestF1=None, treeF1=[], HasField=lambda _: False)


def train(folder: Path) -> None:
    """All five files of a model, in a folder that is made."""
    import torch

    _silence()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    folder.mkdir(parents=True, exist_ok=True)
    trees = [
        tree for name, tree in convert.sentences() if not name.startswith(convert.HELD_OUT)
    ]
    with tempfile.TemporaryDirectory() as scratch, chdir(scratch):
        Path("train.conllu").write_text(convert.convert()["train.conllu"], "utf-8")
        Path("train.mrg").write_text("".join(f"{tree}\n" for tree in trees), "utf-8")
        write_vectors(_words(trees), Path("pretrain.pt"))
        _train_tagger()
        _train_lemmatizer()
        _train_dependencies()
        _train_constituents()
        for name in NAMES:
            shutil.copyfile(f"{name}.pt", folder / f"{name}.pt")


def _silence() -> None:
    logging.disable(logging.WARNING)
    os.environ["TQDM_DISABLE"] = "1"


def _words(trees: Iterable[Node]) -> list[list[str]]:
    return [
        [convert.PLAIN.get(leaf.word or "", leaf.word or "") for leaf in tree.leaves()]
        for tree in trees
    ]


def _common(name: str, extension: str = "conllu") -> list[str]:
    return [
        "--shorthand", "en_nfh", "--save_dir", ".", "--save_name", f"{name}.pt", "--seed", SEED,
        "--cpu", "--train_file", f"train.{extension}", "--eval_file", f"train.{extension}",
    ]  # fmt: skip


VECTORS = ["--lang", "en", "--wordvec_pretrain_file", "pretrain.pt"]


def _train_tagger() -> None:
    from stanza.models import tagger

    tagger.main([
        *_common("pos"), *VECTORS, "--hidden_dim", "64", "--char_hidden_dim", "48",
        "--char_emb_dim", "24", "--word_emb_dim", "24", "--word_cutoff", "2",
        "--tag_emb_dim", "16", "--transformed_dim", "24", "--deep_biaff_hidden_dim", "64",
        "--composite_deep_biaff_hidden_dim", "16", "--num_layers", "1", "--max_steps", "800",
        "--eval_interval", "800", "--dropout", "0.3", "--word_dropout", "0.2",
        "--fix_eval_interval", "--no_second_optim", "--batch_size", "250",
    ])  # fmt: skip


def _train_lemmatizer() -> None:
    from stanza.models import lemmatizer

    lemmatizer.main([
        *_common("lemma"), "--hidden_dim", "64", "--emb_dim", "24", "--pos_dim", "24",
        "--num_epoch", "60", "--decay_epoch", "40", "--lr", "0.003",
    ])  # fmt: skip


def _train_dependencies() -> None:
    from stanza.models import parser

    parser.main([
        *_common("depparse"), *VECTORS, "--hidden_dim", "64", "--char_hidden_dim", "32",
        "--char_emb_dim", "16", "--word_emb_dim", "24", "--word_cutoff", "2",
        "--tag_emb_dim", "24", "--transformed_dim", "24", "--deep_biaff_hidden_dim", "64",
        "--deep_biaff_output_dim", "40", "--num_layers", "1", "--max_steps", "800",
        "--eval_interval", "800", "--dropout", "0.3", "--word_dropout", "0.2",
        "--batch_size", "800", "--no_second_optim", "--no_checkpoint",
        "--optim", "adam", "--lr", "0.003",
    ])  # fmt: skip


def _train_constituents() -> None:
    from stanza.models import constituency_parser
    from stanza.models.constituency import parser_training, retagging, tree_reader

    def read_whole(path: str) -> list:
        return [tree.prune_none() for tree in tree_reader.read_tree_file(path)]

    tree_reader.read_treebank = read_whole
    parser_training.EvaluateParser = Comparison
    retagging.build_retag_pipeline = lambda _: None
    constituency_parser.main([
        *_common("constituency", "mrg"), *VECTORS, "--no_checkpoint", "--epochs", "60",
        "--epoch_size", "195", "--train_batch_size", "10", "--hidden_size", "64",
        "--transition_hidden_size", "16", "--transition_embedding_dim", "16",
        "--tag_embedding_dim", "24", "--delta_embedding_dim", "16", "--num_lstm_layers", "1",
        "--reduce_heads", "4", "--tag_unknown_frequency", "0.01",
        "--rare_word_unknown_frequency", "0.2", "--rare_word_threshold", "0.3",
    ])  # fmt: skip


def main() -> None:
    """Train, and say how well."""
    folder = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE / "model"
    train(folder)
    for name, value in asdict(scoring.score(folder, convert.HELD_OUT)).items():
        sys.stdout.write(
            f"{name:10} {value:.3f}\n" if isinstance(value, float) else f"{name:10} {value}\n"
        )


if __name__ == "__main__":
    main()
