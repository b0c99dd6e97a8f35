"""A training that takes as long as it is told, for the workers of a cluster to preload.

To import it puts it beside the real one: it does what is asked for with "slow=…".
"""

import os
import signal
import time
from pathlib import Path

import numpy as np

from nfh_models import ModelsError
from nfh_models.model_files import ModelConfig, ModelFiles, write_model
from nfh_tui.jobs import training
from nfh_tui.jobs.reporting import Phase, Tell
from nfh_tui.jobs.snapshot import Snapshot
from nfh_tui.jobs.training import Made, TrainSpec

STEPS = 40
CHECKPOINT = "last.safetensors"


def train_model(snapshot: Snapshot, spec: TrainSpec, work: Path, out: Path, tell: Tell) -> Made:
    """Goes through some steps, and keeps each in a checkpoint.

    words: "slow=0.1", seconds between two steps; "fail=…", "fault=…"; "lie=1" says another
    hash; "kill=1" ends its own process at once; "trace=…" is a file that tells when a training
    begins and ends. The metrics say where it began.
    """
    told = dict(word.split("=") for word in spec.words)
    if "slow" not in told:
        return real(snapshot, spec, work, out, tell)
    if "trace" not in told:
        return slow(snapshot, spec, work, out, tell, told)
    with Path(told["trace"]).open("a", buffering=1) as trace:
        trace.write("begin\n")
        try:
            return slow(snapshot, spec, work, out, tell, told)
        finally:
            trace.write("end\n")


def slow(
    snapshot: Snapshot,
    spec: TrainSpec,
    work: Path,
    out: Path,
    tell: Tell,
    told: dict[str, str],
) -> Made:
    if "fail" in told:
        raise ModelsError(told["fail"])
    if "fault" in told:
        raise LookupError(told["fault"])
    if "kill" in told:
        os.kill(os.getpid(), signal.SIGKILL)
    checkpoint = work / CHECKPOINT
    start = int(checkpoint.read_text()) if checkpoint.exists() else 0
    for step in range(start, STEPS):
        beside = work / ".new"
        beside.write_text(str(step))
        beside.replace(checkpoint)
        tell(Phase("training, epoch 1:", step, STEPS, {"loss": 1 / (1 + step)}))
        time.sleep(float(told["slow"]))
    based = (
        "" if spec.base_folder is None else Path(spec.base_folder, "config.json").read_text()
    )
    metrics: dict[str, object] = {
        "start": start,
        "pid": os.getpid(),
        "sheets": len(snapshot.sheets),
        "base": based,
    }
    config = ModelConfig(
        format_version=1,
        name=out.name,
        task=spec.task,
        recipe=spec.recipe,
        version="1",
        created_at="2026-01-01",
        parser=None,
        settings={},
    )
    digest = write_model(out, ModelFiles(config, {"a": np.ones(3)}, None, metrics, "# card\n"))
    if "lie" in told:
        digest = "0" * 64
    return Made(digest, "1", {}, metrics, ("a note",), 0.5, passages=len(snapshot.sheets))


if training.train_model.__module__ == training.__name__:
    real = training.train_model
    training.train_model = train_model
