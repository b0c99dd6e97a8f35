"""The recipe `bilstm`: the paper's network (section 6.1), trained and used.

    settings = settings_of(["preset=paper", "vectors=file:vectors.txt", "epochs=30"])
    vectors = vectors_of(settings, train_examples)
    learner = learner_of(train_examples, dev_examples, settings, vectors)
    learner.notes                                     sentences about the examples, for a person
    outcome = yield from train(learner, plan_of(settings), folder, choose_device("cpu"))
    model = make_model(learner)                       a Resolver
    save_bilstm(model, folder, created_at=at, metrics=metrics, card=card)
    model = load_bilstm(folder)

`settings_of` and `plan_of` are in `settings`, `vectors_of` in `vectors`, `learner_of` and
`make_model` in `training`, `save_bilstm` in `files`. Importing this package, `settings` and
`vectors` loads no framework.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nfh_models.bilstm.model import BiLstmResolver

__all__ = ["load_bilstm"]


def load_bilstm(folder: Path) -> "BiLstmResolver":
    """A network out of its model directory; loads torch. Raises ModelFileError."""
    from nfh_models.bilstm.files import load

    return load(folder)
