"""What has been in view of each item: a model's answer, and what other people answered."""

from nfh_db.records import Item


class Sight:
    """What one person has had in view in this session, by anchor.

    What has been seen stays seen: it may have been a pane away from the one in which the
    answer is given, or the item may have been on the screen before.
    """

    def __init__(self) -> None:
        self._model: set[int] = set()
        self._others: set[int] = set()

    def note(self, item: Item, me: str, *, judging: bool, evidence: bool, scores: bool) -> None:
        """Note what of an item is in view now.

        judging: others' answers are shown. evidence: the pane with all that models say is.
        scores: the choice of the model of heads is seen elsewhere: as a heat map, in the order
        of letters, or adopted.
        What is withheld from this person is not in the item, and so is not noted.
        """
        head = item.prediction is not None
        if (evidence and (head or item.identification is not None)) or (scores and head):
            self._model.add(item.anchor_id)
        votes = (*item.votes, *item.stale_votes)
        if judging and any(vote.annotator != me for vote in votes):
            self._others.add(item.anchor_id)

    def of_model(self, anchor_id: int) -> bool:
        """True if something that a model says of the anchor has been in view."""
        return anchor_id in self._model

    def of_others(self, anchor_id: int) -> bool:
        """True if another person's answer to the anchor has been in view."""
        return anchor_id in self._others
