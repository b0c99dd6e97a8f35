"""Training of `bilstm` by the loop of all networks."""

from collections.abc import Generator, Sequence
from pathlib import Path

import msgspec

from nfh_models.bilstm.settings import WANTED, plan_of, settings_of
from nfh_models.parsing.parsed import Layer, Parser
from nfh_models.resolution.recipes import BILSTM
from nfh_tui.training_jobs import Step
from nfh_tui.training_networks import HELD_OUT_SHARE, outcome_metrics, steps_of
from nfh_tui.training_trainers import JUDGED_BY, Lessons, Trained, Written, check_keys


class BiLstmTrainer:
    """The recipe with its settings."""

    recipe = BILSTM
    needs: frozenset[Layer] = frozenset()
    share = HELD_OUT_SHARE

    def __init__(self, words: Sequence[str], device: str | None) -> None:
        """words: "key=value". Raises SettingError."""
        check_keys(words, BILSTM, WANTED, (*JUDGED_BY, "device"))
        self._settings = settings_of(words)
        self._device = device
        self.settings = dict(msgspec.to_builtins(self._settings))

    def train(
        self,
        lessons: Lessons,
        folder: Path,
        parser: Parser | None,  # noqa: ARG002 - it needs none
    ) -> Generator[Step, None, Trained]:
        """Train it. Raises NoExamplesError, VectorError, TrainingError."""
        from nfh_models.bilstm.files import config_of, save_bilstm
        from nfh_models.bilstm.training import learner_of, make_model
        from nfh_models.bilstm.vectors import vectors_of
        from nfh_models.training.devices import choose_device
        from nfh_models.training.loop import train

        on = choose_device(self._device)
        vectors = vectors_of(self._settings, lessons.train)
        learner = learner_of(lessons.train, lessons.dev, self._settings, vectors)
        plan = plan_of(self._settings)
        outcome = yield from steps_of(train(learner, plan, folder, on))
        model = make_model(learner)

        def write(at: Path, made: str, metrics: dict[str, object], card: str) -> Written:
            digest = save_bilstm(model, at, created_at=made, metrics=metrics, card=card)
            return Written(config_of(model, at.name, made), digest)

        return Trained(model, write, outcome_metrics(outcome, on), notes=learner.notes)
