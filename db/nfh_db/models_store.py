"""What the store does about models that were used and may be again; a part of `Store`."""

from collections.abc import Mapping, Sequence

from nfh_db import activations, learnt, model_answers, models
from nfh_db.activations import Activation, Because
from nfh_db.errors import StoreError
from nfh_db.models import Model
from nfh_db.opened import OpenDatabase
from nfh_db.query import Query
from nfh_db.records import Annotator


class ModelsStore(OpenDatabase):
    """Which models were in use, going back to them, and what they learnt from."""

    def activations(self) -> tuple[Activation, ...]:
        """Each time that a task came to use another model, the oldest first."""
        with self._readers.lend() as connection:
            return activations.read_all(connection)

    def put_back_models(
        self, wanted: Mapping[str, int], because: Because | None = None
    ) -> Mapping[str, Model]:
        """Let tasks use models again, by number; what each task uses now.

        Other tasks keep theirs, unless both use one model and cannot. StoreError if there is
        no such model.
        """
        with self._deciding() as connection:
            found = {}
            for task, model_id in wanted.items():
                model = models.read(connection, model_id)
                if model is None:
                    raise StoreError(f"there is no model {model_id}")
                found[task] = model
            models.put_back(connection, found, because)
            in_use = {}
            for task in models.SINGLE_TASKS:
                now = models.active(connection, task)
                model = None if now is None else models.read(connection, now[0])
                if model is not None:
                    in_use[task] = model
            return in_use

    def passages_with_gold(
        self, query: Query, made_at: str, without: Sequence[str], *, sides: bool
    ) -> frozenset[str]:
        """The digests of the passages in which a query finds gold that was there at a time.

        without: splits whose passages were kept out. sides: whether those that were dealt to
        judge by were kept out, too.
        """
        with self._readers.lend(one_state=True) as connection:
            return learnt.passages(connection, query, made_at, without, sides=sides)

    def to_decide_blind(self, me: Annotator) -> frozenset[int]:
        """The anchors that somebody has still to decide without seeing anybody's decision."""
        with self._readers.lend() as connection:
            return model_answers.to_decide_blind(connection, me.id)

    def model_choices(self, model_id: int, anchor_ids: Sequence[int]) -> Mapping[int, str]:
        """What a model chose of these anchors, as far as it was asked."""
        with self._readers.lend() as connection:
            return model_answers.choices(connection, model_id, anchor_ids)

    def model_decisions(self, model_id: int, anchor_ids: Sequence[int]) -> Mapping[int, bool]:
        """Whether a model said that a noun is missing, as far as it was asked."""
        with self._readers.lend() as connection:
            return model_answers.decisions(connection, model_id, anchor_ids)
