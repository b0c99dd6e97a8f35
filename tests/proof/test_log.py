"""Random acts of everything, bulk acts and merges among them: the log replays to what is there.

`soak.checks` replays the log from nothing, looks at every row, and asks the doctor.
"""

import random
import tempfile
from contextlib import suppress
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfh_db.errors import ChangedSinceError
from nfh_db.store import Store

PEOPLE = ("w0-ann", "w0-ben", "w0-boss")


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), acts=st.integers(10, 60))
def test_the_log_replays_to_what_was_done(seed: int, acts: int) -> None:
    from soak.acts import Model
    from soak.bulk import Chooser
    from soak.checks import faults
    from soak.state import difference, read_ids, read_state

    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "nfh.db"
        chooser = Chooser(random.Random(seed), "w0", Model(), database)
        done = []
        with Store.open(database, create=True) as store:
            for _ in range(acts):
                act = chooser.next()
                act.do(store)
                chooser.model.apply(act.plain())
                done.append(act.what)
                if act.what in ("import", "merge", "span"):
                    chooser.ids = read_ids(database)
            assert difference(chooser.model.state, read_state(database)) == "", done
            assert faults(database) == []
            for name in PEOPLE:
                person = store.people.ensure(name)
                with suppress(ChangedSinceError):
                    while store.edits.undo(person):
                        pass
        assert faults(database) == []
