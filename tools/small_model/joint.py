"""The weights of the recipe `joint`: `python -m tools.small_model.joint --data FOLDER`.

They are fitted on the rows of the identification file from which `small` did not learn (those
that chose its threshold, and those kept out), without rows that share text with the held-back
tests, and without rows whose label both parts contradict: most of these labels are wrong, and
they say nothing of which part to believe.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from nfh_models.agreement.measure import Measure
from nfh_models.encoder import load_encoder
from nfh_models.identification.base import SMALL, Decision, Example, Identifier, decide
from nfh_models.identification.evaluation import compare, measures
from nfh_models.identification.rules import JointWeights, Rules
from nfh_models.model_files import packaged_folder
from nfh_models.parsing.base import Parser, load_parser
from tools.small_model.data import IDENTIFICATION, Data, line_of, read_data

FOLDS = 10


@dataclass(frozen=True, slots=True)
class BothDecisions:
    """What the rules and the network decide of some examples. fitted: which of these the
    weights are fitted on."""

    examples: Sequence[Example]
    rules: Sequence[Decision]
    network: Sequence[Decision]
    fitted: NDArray[np.bool_]

    @property
    def features(self) -> NDArray[np.float64]:
        """The network's score, and 1 or -1 for what the rules say."""
        pairs = zip(self.network, self.rules, strict=True)
        return np.array([(one.score or 0.0, 1.0 if it.nfh else -1.0) for one, it in pairs])

    @property
    def labels(self) -> NDArray[np.bool_]:
        return np.array([one.nfh for one in self.examples], bool)


def both_decisions(
    examples: Sequence[Example], left_out: Sequence[bool], network: Identifier, parser: Parser
) -> BothDecisions:
    """Decide the examples. left_out: those that must not be learnt from."""
    parsed = list(decide([one.case for one in examples], Rules(), parser))
    rules = [said for _, said in parsed]
    scored = network.decide([case for case, _ in parsed])
    fitted = [
        not left and one.nfh in (first.nfh, second.nfh)
        for one, left, first, second in zip(examples, left_out, rules, scored, strict=True)
    ]
    return BothDecisions(examples, rules, scored, np.array(fitted, bool))


def fit(features: NDArray[np.float64], labels: NDArray[np.bool_]) -> JointWeights:
    """A logistic regression without an intercept: neither answer is preferred."""
    from sklearn.linear_model import LogisticRegression

    found = LogisticRegression(fit_intercept=False).fit(features, labels).coef_[0]
    return JointWeights(*(round(float(one), 2) for one in found))


def cross_fitted(both: BothDecisions) -> NDArray[np.bool_]:
    """What the joined recipe decides of each example, with weights fitted on other groups."""
    groups = {
        group: at for at, group in enumerate(sorted({one.group for one in both.examples}))
    }
    folds = np.array([groups[one.group] % FOLDS for one in both.examples])
    features, labels = both.features, both.labels
    said = np.zeros(len(labels), bool)
    for fold in range(FOLDS):
        learnt, judged = both.fitted & (folds != fold), folds == fold
        weights = fit(features[learnt], labels[learnt])
        said[judged] = features[judged] @ (weights.score, weights.rule) > 0
    return said


def read_both(data: Data, network: Identifier, parser: Parser) -> BothDecisions:
    """The decisions of the rows kept out, then of those that chose the threshold."""
    examples = [*data.held, *data.tuning]
    listed = [data.overlap.of_line(IDENTIFICATION, line_of(one.where)) for one in examples]
    return both_decisions(examples, listed, network, parser)


def _shown(measure: Measure) -> str:
    return f"{measure.value} ({measure.low} to {measure.high})"


@click.command()
@click.option("--data", type=click.Path(path_type=Path), required=True, help="The release's.")
def main(data: Path) -> None:
    """Fit the weights; measure rules, small and joint on the rows kept out."""
    read = read_data(data, click.echo)
    both = read_both(read, load_encoder(packaged_folder(SMALL)), load_parser(None, Rules.needs))
    kept = slice(len(read.held))
    said = {
        "rules": [one.nfh for one in both.rules][kept],
        "small": [one.nfh for one in both.network][kept],
        "joint": cross_fitted(both)[kept].tolist(),
    }
    for name, decided in said.items():
        for what, measure in measures(read.held, decided).items():
            click.echo(f"{name} {what}: {_shown(measure)}")
    for name in ("rules", "small"):
        found = compare(read.held, said["joint"], said[name])
        click.echo(
            f"joint - {name}: {_shown(found.difference)}, p = {found.p}; right alone: "
            f"{found.only_first} and {found.only_second}"
        )
    weights = fit(both.features[both.fitted], both.labels[both.fitted])
    click.echo(f"{weights}, of {int(both.fitted.sum()):,} rows")


if __name__ == "__main__":
    main()
