"""What `nfh-tui evaluate` is asked for, and whether that goes together."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_models.agreement.bootstrap import Resampling
from nfh_models.identification.recipes import TRAINED
from nfh_tui import places
from nfh_tui.cli.evaluate_json import Asked
from nfh_tui.cli.overwriting import check_out

if TYPE_CHECKING:
    from nfh_tui.transfer import ImportOptions

IDENTIFICATION = "identification"
RESOLUTION = "resolution"

DEFAULT_FOLDS = 5

OF_ONE_TASK = {
    "--folds": IDENTIFICATION,
    "--train": IDENTIFICATION,
    "--set": IDENTIFICATION,
    "--ablation": IDENTIFICATION,
    "--oracle": RESOLUTION,
    "--baselines": RESOLUTION,
    "--several-heads": RESOLUTION,
}
"""Options that say nothing to the other task."""


@dataclass(frozen=True, slots=True)
class Call:
    """What the command line asks for; see the options of `nfh_tui.cli.evaluate`."""

    task: str
    query: str
    models: tuple[str, ...]
    split: str | None
    file: Path | None
    several_heads: bool
    format: str | None
    parser: str | None
    folds: int | None
    train: Path | None
    sets: tuple[str, ...]
    ablation: bool
    oracle: bool
    baselines: bool
    errors: int
    resamples: int
    seed: int
    db: Path | None
    report: Path | None
    blind: bool
    as_json: bool
    reading: "ImportOptions | None" = None

    def check(self) -> None:
        """Raise UsageError for options that do not go together, or not with the task."""
        self._check_task()
        self._check_source()
        if self.train is not None and self.folds is not None:
            raise click.UsageError("--train and --folds are two ways to fit; choose one")
        if len(set(self.models)) < len(self.models):
            raise click.UsageError("--model names the same model twice")
        if self.fits and self.models and not set(TRAINED) & set(self.models):
            raise click.UsageError(
                f"--folds and --train are for a recipe that learns: --model {TRAINED[0]}"
            )
        if self.sets and not (self.fits or self.ablation):
            raise click.UsageError(
                "--set is for a recipe that is fitted: add --folds or --train"
            )
        if self.report is not None:
            read = [one for one in (self.file, self.train) if one is not None]
            check_out(self.report, read, places.database(self.db), "--report")
        if any(one.startswith("folds=") for one in self.sets):
            raise click.UsageError("the number of folds is set with --folds")
        if self.sets:
            self._check_settings()

    def _check_task(self) -> None:
        given = {
            "--folds": self.folds is not None,
            "--train": self.train is not None,
            "--set": bool(self.sets),
            "--ablation": self.ablation,
            "--oracle": self.oracle,
            "--baselines": self.baselines,
            "--several-heads": self.several_heads,
        }
        for option, task in OF_ONE_TASK.items():
            if given[option] and task != self.task:
                raise click.UsageError(
                    f"{option} is of {task}: leave it out, or evaluate {task}"
                )

    def _check_source(self) -> None:
        if self.file is not None and self.several_heads:
            raise click.UsageError("--file and --several-heads are measured apart; choose one")
        if not self.of_database and (self.query or self.split):
            named = "--several-heads" if self.file is None else "--file"
            raise click.UsageError(
                f"{named} is measured whole: leave out the query and --split"
            )
        if self.file is None and self.format is not None:
            raise click.UsageError("--format is of a --file")

    def _check_settings(self) -> None:
        from nfh_models.identification.svm_settings import plan_of
        from nfh_models.setting_words import SettingError

        try:
            plan_of(self.sets)
        except SettingError as error:
            raise click.UsageError(str(error)) from error

    @property
    def of_database(self) -> bool:
        """Whether the gold of a database is what is measured on."""
        return self.file is None and not self.several_heads

    @property
    def fits(self) -> bool:
        """Whether recipes that learn are fitted for the occasion."""
        return self.folds is not None or self.train is not None

    @property
    def resampling(self) -> Resampling:
        """How intervals are drawn."""
        return Resampling(self.resamples, self.seed)

    @property
    def asked(self) -> Asked:
        """What the report says of the call."""
        file = None if self.file is None else str(self.file)
        return Asked(self.query, self.split, file, self.resamples, self.seed)
