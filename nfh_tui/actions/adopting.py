"""Acts that take an answer over."""

from nfh_tui.actions.act import ADJUDICATING, ADJUDICATOR, ADOPT, ANNOTATOR, WRITING, Action

ACTS: tuple[Action, ...] = (
    *(
        Action(
            f"adopt.{n}", (str(n),), "1–9", f"Adopt answer {n}",
            f"Take over answer {n} of the list of answers.", ADOPT, ADJUDICATOR, ADJUDICATING,
            listed="Adopt the answer of annotator n",
        )
        for n in range(1, 10)
    ),
    Action(
        "adopt.model", ("m",), "m", "Adopt the model's answer",
        "Take over what the model says.", ADOPT, ANNOTATOR, WRITING,
    ),
    Action(
        "adopt.union", ("u",), "u", "Adopt the union",
        "Take over every head that anybody marked.", ADOPT, ADJUDICATOR, ADJUDICATING,
    ),
    Action(
        "adopt.intersection", ("i",), "i", "Adopt the intersection",
        "Take over only the heads that all who answered Reference marked (two at least).",
        ADOPT, ADJUDICATOR, ADJUDICATING,
    ),
    Action(
        "adopt.nobody", ("0",), "0", "Nobody is right",
        "Clear what was adopted and answer afresh.", ADOPT, ADJUDICATOR, ADJUDICATING,
    ),
)  # fmt: skip
