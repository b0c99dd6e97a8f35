"""What is said of the small model: metrics.json, card.md, and the notice of its base."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from nfh_models.encoder.settings import Weights
from nfh_models.identification.scores import Counts
from nfh_models.identification.svm_card import plain
from nfh_models.resolution.scoring.evaluating import Evaluation
from nfh_tui.small_figures import Measured, wrong_by_kind, wrong_by_word

if TYPE_CHECKING:
    from nfh_models.encoder.model import Whole

FIGURES = (
    "accuracy",
    "accuracy_inclusive",
    "accuracy_nearest",
    "reference",
    "implicit",
    "binary",
    "class_accuracy",
)

NOTICE = """\
The weights of this model were made by fine-tuning those of

    all-MiniLM-L6-v2, https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2
    by the authors of sentence-transformers (https://www.sbert.net)

under the Apache License, Version 2.0 (https://www.apache.org/licenses/LICENSE-2.0). Changed
were all weights, by further training for another task; the vocabulary is theirs. You may
obtain a copy of that licence at the address above. It is distributed on an "AS IS" basis,
without warranties or conditions of any kind, either express or implied.

That model was made from MiniLM-L12-H384-uncased by Microsoft
(https://huggingface.co/microsoft/MiniLM-L12-H384-uncased), which is under the MIT licence:

    Copyright (c) Microsoft Corporation.

    Permission is hereby granted, free of charge, to any person obtaining a copy of this
    software and associated documentation files (the "Software"), to deal in the Software
    without restriction, including without limitation the rights to use, copy, modify, merge,
    publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons
    to whom the Software is furnished to do so, subject to the following conditions:

    The above copyright notice and this permission notice shall be included in all copies or
    substantial portions of the Software.

    THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED,
    INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR
    PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
    FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
    OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER
    DEALINGS IN THE SOFTWARE.

The data that it was trained on is that of num_fh (https://github.com/yanaiela/num_fh), under
the MIT licence, Copyright (c) 2019 Yanai Elazar, and of Natural Instructions
(https://github.com/allenai/natural-instructions), under the Apache License, Version 2.0.
"""

CARD = """\
# {name}

Says of a number in English dialog whether its noun is missing (a numeric fused head), and
which noun it is: a word of the passage, or one of six classes. It needs no parser.
{note}
- Made {at} from {base}; {size:.1f} MB, weights in {bits}.
{encoder}- Learnt from {taught}.
- {teachers}
- Settings: {settings}.

## How good it is

In the form in which it ships. Resolution on the release's development split, {n:,} examples,
by which the best epoch and the temperature were chosen; the interval is of 95 %.

| figure | small |
|---|---|
{figures}

Its classes are expected as often as {expected}.
Its probabilities are off by {before} before and {after} after their temperature of
{temperature:.2f} (expected calibration error; each half of dev by the temperature of the
other).

Identification on {held:,} rows of the release's development split that were kept out of the
training (the labels are by rules, about 2 % of them wrong): precision {precision}, recall
{recall}, F1 {f1}.

{apart}## Where it fails

Mistakes on dev: what was gold, and what was said. REF-WRONG is a word that is not the head.

| gold | said | mistakes |
|---|---|---|
{kinds}

The anchors with most mistakes:

| anchor | mistakes | examples |
|---|---|---|
{words}

It reads {window} words around a number; a head farther away it cannot find. Money is CURRENCY
for it even where a word for money stands in the passage, as in the data. Of two different
heads it has seen few real cases. It knows film and television dialog best.
"""


def metrics_of(found: Measured, outcome: Mapping[str, object]) -> dict[str, object]:
    """The figures as JSON has them: fractions, null where there is none."""
    told: dict[str, object] = {
        "resolution": _resolution(found.dev),
        "identification": {
            "n": found.held.n,
            "precision": found.held.precision,
            "recall": found.held.recall,
            "f1": found.held.f1,
            "accuracy": found.held.accuracy,
        },
        "training": dict(outcome),
    }
    if found.apart is not None:
        told["several_heads"] = _resolution(found.apart)
    return told


def _resolution(found: Evaluation) -> dict[str, object]:
    figures, calibration = found.figures, found.calibration
    told: dict[str, object] = {"n": figures.n}
    told |= {name: getattr(figures, name) for name in FIGURES}
    told["lost"] = found.lost
    if found.heads is not None:
        told["heads"] = {
            name: getattr(found.heads, name)
            for name in ("exact", "precision", "recall", "f1", "relation")
        }
    if calibration is not None:
        told["ece"] = calibration.before.ece
    return told


def card_of(
    whole: "Whole",
    found: Measured,
    uncalibrated: Evaluation,
    *,
    name: str,
    at: str,
    size: int,
    taught: Sequence[str],
    teachers: Sequence[str],
    note: str = "",
) -> str:
    """The card, in Markdown; no word out of the data is markup in it.

    uncalibrated: dev at a temperature of 1. taught: what it learnt from, with numbers. size:
    bytes of its directory.
    """
    dev, held = found.dev, found.held
    return CARD.format(
        name=name,
        note=f"\n{note}\n" if note else "",
        at=at,
        base=whole.base,
        size=size / 1e6,
        bits="4 and 8 bits" if whole.settings.weights is Weights.MIXED else "8 bits",
        encoder=_encoder(whole),
        taught=", ".join(taught),
        teachers=(
            f"Its teachers: {', '.join(teachers)}." if teachers else "It had no teacher."
        ),
        settings=_settings(whole),
        n=dev.figures.n,
        figures="\n".join(_figures(dev)),
        before=_percent(_off(uncalibrated, after=False)),
        after=_percent(_off(uncalibrated, after=True)),
        expected=_expected(whole),
        temperature=whole.temperature,
        held=held.n,
        precision=_percent(held.precision),
        recall=_percent(held.recall),
        f1=_percent(held.f1),
        apart=_apart(found),
        kinds="\n".join(f"| {a} | {b} | {n} |" for a, b, n in wrong_by_kind(dev)[:12]),
        words="\n".join(f"| {plain(w)} | {n} | {of} |" for w, n, of in wrong_by_word(dev)),
        window=whole.settings.window,
    )


def _off(found: Evaluation, *, after: bool) -> float | None:
    """The expected calibration error on dev; None without one."""
    calibration = found.calibration
    if calibration is None:
        return None
    reliability = calibration.after if after else calibration.before
    return None if reliability is None else reliability.ece


def _settings(whole: "Whole") -> str:
    told = msgspec.to_builtins(whole.settings)
    return ", ".join(
        f"{key} {str(value).lower() if isinstance(value, bool) else value}"
        for key, value in told.items()
        if key not in ("encoder", "download")
    )


def _encoder(whole: "Whole") -> str:
    """The columns of the encoder; nothing of one that has none."""
    from nfh_models.encoder.columns import KIND

    sizes = whole.architecture
    if sizes.get("model_type") != KIND:
        return ""
    return (
        f"- Its encoder has {sizes['columns']} columns that were trained apart, then "
        f"together; each has {sizes['num_hidden_layers']} layers.\n"
    )


def _expected(whole: "Whole") -> str:
    if any(whole.shift):
        return "in all of the paper's corpus, not as in what it learnt from"
    return "in what it learnt from"


def _figures(found: Evaluation) -> list[str]:
    lines = []
    for name in FIGURES:
        line = _percent(getattr(found.figures, name))
        if name == "accuracy":
            spread = found.ci95["accuracy"]
            line += f" ({_percent(spread.low)} to {_percent(spread.high)})"
        lines.append(f"| {name} | {line} |")
    if found.heads is not None:
        lines.append(f"| heads, exact | {_percent(found.heads.exact)} |")
        lines.append(f"| heads, F1 | {_percent(found.heads.f1)} |")
    return lines


def _apart(found: Measured) -> str:
    if found.apart is None or found.apart.heads is None:
        return ""
    heads = found.apart.heads
    return (
        f"On the package's own {found.apart.figures.n} passages about one and several heads "
        f"that were kept out: heads exact {_percent(heads.exact)}, F1 {_percent(heads.f1)}, "
        f"relation {_percent(heads.relation)}.\n\n"
    )


def _percent(value: float | None) -> str:
    return "none" if value is None else f"{100 * value:.1f} %"


def counts_line(counts: Counts) -> str:
    """Figures of identification in one line, for the log."""
    shown = (counts.precision, counts.recall, counts.f1)
    return "precision {}, recall {}, F1 {}".format(*map(_percent, shown))
