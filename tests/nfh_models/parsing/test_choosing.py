"""Which model is used: the small one in the package, a built-in recipe, somebody's own."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nfh_db.import_run import IncomingFile
from nfh_db.models import FIRST, TAKES_OVER, ActivationReason, NewModel
from nfh_db.records import Annotator, IncomingAnchor, IncomingPassage, Prediction, Role
from nfh_db.store import Store
from nfh_models import encoder
from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_models.identification.base import IdentificationRecipeError
from nfh_models.model_files import ModelFileError, digest_of
from nfh_models.resolution.baselines import NUM_OF, Pattern
from nfh_models.resolution.recipes import ResolutionRecipeError, goes_first
from nfh_tui.services.models import (
    NoEarlierModelError,
    check_usable,
    ensure_built_in,
    ensure_packaged,
    identifier_for,
    models_folder,
    register_parser,
    resolver_for,
    roll_back,
    set_up,
)
from tests.nfh_models.encoder.handmade import DOGS
from tests.nfh_models.parsing.tiny_small import damage, write_base, write_small

NOBODY = Annotator(0, "", "model")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A database with one anchor, number 1."""
    with Store.open(tmp_path / "w.db", create=True) as store:
        passage = IncomingPassage(DOGS.passage, "test", (IncomingAnchor(1, DOGS.anchor),))
        store.imports.load(IncomingFile("made up", "0" * 64, "test"), [passage])
        yield store


def number_of(store: Store, name: str) -> int:
    model = store.models.named(name)
    assert model is not None
    return model.id


def states(store: Store) -> dict[str, str]:
    return {model.name: model.state for model in store.models.all()}


def used(store: Store) -> tuple[str, str]:
    """The active models of identification and resolution."""
    return identifier_for(store).name, resolver_for(store).name


def predicted(store: Store) -> Prediction | None:
    item = store.items.read(1, NOBODY, Role.ANNOTATOR)
    assert item is not None
    return item.prediction


# --- the model in the package ---------------------------------------------------------------


def test_a_new_database_uses_the_small_model_for_both_tasks(
    store: Store, package: Path
) -> None:
    ensure_packaged(store)
    number = number_of(store, "small")
    assert states(store) == {"small": "active"}
    loaded: dict[tuple[str, str], object] = {}
    resolver = resolver_for(store, loaded=loaded)
    identifier = identifier_for(store, loaded=loaded)
    assert (resolver.name, resolver.model_id, resolver.fallback_reason) == ("small", number, "")
    assert (identifier.name, identifier.model_id, identifier.fallback_reason) == (
        "small",
        number,
        "",
    )
    assert resolver.model is identifier.model
    assert resolver.model.needs == frozenset()
    assert resolver.model.resolve([DOGS])[0] is not None


def test_it_takes_over_from_built_in_recipes_that_nobody_chose(
    store: Store, package: Path
) -> None:
    for name, task in (("rules", "identification"), ("cues", "resolution")):
        store.models.ensure(name, task, name, "1")
    assert used(store) == ("small", "small")
    assert states(store) == {"rules": "retired", "cues": "retired", "small": "active"}
    store.models.activate(1)
    assert used(store) == ("rules", "small")
    ensure_packaged(store)
    assert used(store) == ("rules", "small")


def test_it_leaves_a_model_of_ones_own_active(store: Store, package: Path) -> None:
    store.models.ensure("cues", "resolution", "cues", "1")
    own = NewModel("svm-1", "identification", "svm", "1", "w-models/svm-1", "0")
    store.jobs.finish_training(store.jobs.begin("identification", {}), own)
    ensure_packaged(store)
    assert states(store) == {"cues": "retired", "svm-1": "active", "small": "active"}
    active = store.models.active("identification")
    assert active is not None
    assert active.name == "svm-1"
    assert resolver_for(store).name == "small"


def test_that_of_another_release_forgets_what_the_one_before_said(
    store: Store, package: Path
) -> None:
    ensure_packaged(store)
    number = number_of(store, "small")
    scores = (None,) * (len(IMPLICIT_KINDS) + len(DOGS.passage.tokens))
    store.predictions.save(number, [(1, Prediction("small", "2", None, None, scores))])
    ensure_packaged(store)
    assert number_of(store, "small") == number
    assert predicted(store) is not None
    shutil.rmtree(package)
    write_small(package, seed=1, made="2027-01-01")
    ensure_packaged(store)
    assert number_of(store, "small") == number
    assert predicted(store) is None
    assert states(store) == {"small": "active"}


def test_a_damaged_one_is_stood_in_for_until_it_is_whole(store: Store, package: Path) -> None:
    ensure_packaged(store)
    damage(package)
    resolver, identifier = resolver_for(store), identifier_for(store)
    assert (resolver.name, identifier.name) == ("cues", "rules")
    for aside in (resolver.fallback_reason, identifier.fallback_reason):
        assert "the small model cannot be used" in aside
        assert "weights.safetensors is damaged" in aside
        assert aside.endswith("Install nfh-tui again")
    active = store.models.active("resolution")
    assert active is not None
    assert (active.name, active.id) == ("cues", resolver.model_id)
    shutil.rmtree(package)
    write_small(package)
    assert used(store) == ("small", "small")
    assert states(store) == {"small": "active", "cues": "retired", "rules": "retired"}


def test_what_somebody_activates_meanwhile_stays(store: Store, package: Path) -> None:
    ensure_packaged(store)
    damage(package)
    cues = resolver_for(store).model_id
    assert cues is not None
    store.models.activate(cues)
    shutil.rmtree(package)
    write_small(package)
    assert resolver_for(store).name == "cues"
    assert resolver_for(store).fallback_reason == ""


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: Path) -> None:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr(encoder, "load_encoder", missing)


@pytest.mark.usefixtures("package", "without_torch")
def test_without_torch_the_built_in_recipes_work(store: Store) -> None:
    ensure_packaged(store)
    assert used(store) == ("rules", "cues")
    assert "needs torch, which is not installed" in resolver_for(store).fallback_reason


def test_without_a_database_the_small_model_is_used(package: Path) -> None:
    assert (identifier_for(None).name, resolver_for(None).name) == ("small", "small")
    damage(package)
    assert (identifier_for(None).name, resolver_for(None).name) == ("rules", "cues")
    assert "weights.safetensors is damaged" in resolver_for(None).fallback_reason
    with pytest.raises(Exception, match=r"weights\.safetensors is damaged"):
        resolver_for(None, "small")


def test_a_new_database_is_made_without_torch(package: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from nfh_models import model_files; "
        f"model_files.PACKAGE = Path({str(package.parent)!r}); "
        "from nfh_tui.cli.main import commands; "
        f"commands(['init', '--db', {str(tmp_path / 'new.db')!r}], standalone_mode=False); "
        "print(*sorted(sys.modules))"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    assert {"torch", "transformers", "spacy", "sklearn"}.isdisjoint(told)
    with Store.open(tmp_path / "new.db") as made:
        assert states(made) == {"small": "active"}


# --- one for resolution beside it -----------------------------------------------------------


def test_a_new_database_resolves_by_base_and_identifies_by_small(
    store: Store, base: Path
) -> None:
    set_up(store)
    assert states(store) == {"base": "active", "small": "active"}
    resolver, identifier = resolver_for(store), identifier_for(store)
    assert (resolver.name, resolver.folder, resolver.fallback_reason) == ("base", base, "")
    assert (identifier.name, identifier.fallback_reason) == ("small", "")
    assert resolver_for(store, "small").name == "small"
    with pytest.raises(IdentificationRecipeError, match="base is a model of resolution"):
        identifier_for(store, "base")
    assert {one.reason for one in store.models.activations()} == {FIRST}
    with pytest.raises(NoEarlierModelError):
        roll_back(store)
    assert not goes_first(Pattern(NUM_OF, None), resolver.model.recipe)
    assert goes_first(Pattern(NUM_OF, Kind.REFERENCE), resolver.model.recipe)
    assert not goes_first(Pattern(NUM_OF, Kind.PEOPLE), resolver.model.recipe)


def test_an_older_database_takes_base_and_keeps_what_small_said(
    store: Store, package: Path
) -> None:
    ensure_packaged(store)
    scores = (None,) * (len(IMPLICIT_KINDS) + len(DOGS.passage.tokens))
    small = number_of(store, "small")
    store.predictions.save(small, [(1, Prediction("small", "2", None, None, scores))])
    write_base(package.parent / "base")
    assert used(store) == ("small", "base")
    assert predicted(store) is None
    last = store.models.activations()[-1]
    assert (last.task, last.model, last.before) == ("resolution", "base", "small")
    assert last.reason == TAKES_OVER
    assert roll_back(store).after == {"resolution": "small"}
    found = predicted(store)
    assert found is not None
    assert (found.model, found.choice) == ("small", "2")
    assert used(store) == ("small", "small")


def choose_cues(store: Store) -> None:
    store.models.activate(store.models.ensure("cues", "resolution", "cues", "1"))


def choose_small(store: Store) -> None:
    choose_cues(store)
    store.models.activate(number_of(store, "small"), ActivationReason("ann"))


def go_back_to_small(store: Store) -> None:
    choose_cues(store)
    roll_back(store)


def have_one_trained(store: Store) -> None:
    own = NewModel("linear-1", "resolution", "linear", "1", "w-models/linear-1", "0")
    verdict = {"verdict": "promoted", "reason": "better"}
    job = store.jobs.begin("resolution", {})
    store.jobs.finish_training(job, own, verdict=verdict, promote=True)


@pytest.mark.parametrize(
    ("choose", "name"),
    [
        (choose_cues, "cues"),
        (choose_small, "small"),
        (go_back_to_small, "small"),
        (have_one_trained, "linear-1"),
    ],
)
def test_a_model_that_somebody_chose_stays(
    store: Store, package: Path, choose: Callable[[Store], None], name: str
) -> None:
    ensure_packaged(store)
    choose(store)
    write_base(package.parent / "base")
    ensure_packaged(store)
    active = store.models.active("resolution")
    assert active is not None
    assert (active.name, states(store)["base"]) == (name, "candidate")
    store.models.activate(number_of(store, "base"))
    assert resolver_for(store).name == "base"


def test_one_that_stood_in_for_small_gives_way_to_base(store: Store, package: Path) -> None:
    ensure_packaged(store)
    damage(package)
    assert used(store) == ("rules", "cues")
    write_base(package.parent / "base")
    assert used(store) == ("rules", "base")
    assert identifier_for(store).fallback_reason.startswith("the small model cannot be used")


def test_small_stands_in_for_a_damaged_base_until_it_is_whole(
    store: Store, package: Path, base: Path
) -> None:
    set_up(store)
    damage(base)
    for _ in range(2):
        found = resolver_for(store)
        assert (found.name, found.model_id) == ("small", number_of(store, "small"))
        assert found.fallback_reason.startswith(
            f"the base model cannot be used, so small decides instead: {base}/weights"
        )
        assert identifier_for(store).fallback_reason == ""
        assert states(store) == {"base": "retired", "small": "active"}
    acts = [(one.before, one.model) for one in store.models.activations()]
    assert acts.count(("base", "small")) == 1, "one that stands in is noted once"
    with pytest.raises(ModelFileError, match=r"weights\.safetensors is damaged"):
        resolver_for(store, "base")
    shutil.rmtree(base)
    assert resolver_for(store).name == "small"
    write_base(base)
    assert used(store) == ("small", "base")
    assert states(store) == {"base": "active", "small": "active"}


def test_where_both_are_damaged_cues_stand_in(store: Store, package: Path, base: Path) -> None:
    set_up(store)
    damage(base)
    damage(package)
    found = resolver_for(store)
    assert found.name == "cues"
    assert found.fallback_reason.startswith(
        "the base and small models cannot be used, so cues decides instead: "
    )
    assert identifier_for(store).name == "rules"
    shutil.rmtree(package)
    write_small(package)
    assert used(store) == ("small", "small")
    shutil.rmtree(base)
    write_base(base)
    assert used(store) == ("small", "base")


def test_small_that_nothing_uses_stands_in_all_the_same(
    store: Store, package: Path, base: Path
) -> None:
    set_up(store)
    store.models.activate(store.models.ensure("rules", "identification", "rules", "1"))
    assert states(store)["small"] == "retired"
    whole = (base / "weights.safetensors").read_bytes()
    damage(base)
    assert used(store) == ("rules", "small")
    (base / "weights.safetensors").write_bytes(whole)
    assert used(store) == ("rules", "base")
    assert states(store) == {"base": "active", "small": "retired", "rules": "active"}


def test_ones_own_model_of_both_tasks_is_not_replaced_by_small(
    store: Store, package: Path, base: Path, tmp_path: Path
) -> None:
    set_up(store)
    folder = write_small(models_folder(store.path) / "encoder-1", recipe="encoder")
    own = NewModel("encoder-1", "both", "encoder", "1", str(folder), digest_of(folder))
    store.jobs.finish_training(store.jobs.begin("both", {}), own)
    store.models.activate(number_of(store, "encoder-1"))
    store.models.activate(number_of(store, "base"))
    assert used(store) == ("encoder-1", "base")
    damage(base)
    assert used(store) == ("encoder-1", "cues")


@pytest.mark.usefixtures("base", "without_torch")
def test_without_torch_neither_is_used(store: Store) -> None:
    set_up(store)
    assert used(store) == ("rules", "cues")
    assert "the recipe base needs torch" in resolver_for(store).fallback_reason


def test_without_a_database_base_resolves_and_small_identifies(
    package: Path, base: Path
) -> None:
    assert (identifier_for(None).name, resolver_for(None).name) == ("small", "base")
    assert resolver_for(None, "small").folder == package
    with pytest.raises(IdentificationRecipeError, match="base is a model of resolution"):
        identifier_for(None, "base")
    damage(base)
    found = resolver_for(None)
    assert (found.name, found.model_id, found.folder) == ("small", None, package)
    assert "so small decides instead" in found.fallback_reason


def test_a_database_that_is_only_read_is_served_and_not_changed(
    store: Store, package: Path, base: Path
) -> None:
    assert resolver_for(store, register=False).name == "base"
    assert store.models.all() == ()
    set_up(store)
    damage(base)
    assert resolver_for(store, register=False).name == "small"
    assert states(store) == {"base": "active", "small": "active"}


# --- without one ----------------------------------------------------------------------------


def test_without_a_packaged_model_the_built_in_recipes_are_used(store: Store) -> None:
    assert used(store) == ("rules", "cues")
    assert resolver_for(store).fallback_reason == ""
    assert states(store) == {"rules": "active", "cues": "active"}


def test_nothing_is_written_where_nothing_is_to_be_registered(store: Store) -> None:
    found = resolver_for(store, register=False)
    assert (found.name, found.model_id) == ("cues", None)
    assert identifier_for(store, register=False).model_id is None
    assert store.models.all() == ()


# --- words ----------------------------------------------------------------------------------


def test_a_word_is_a_number_a_name_a_recipe_or_a_folder(
    store: Store, package: Path, tmp_path: Path
) -> None:
    ensure_built_in(store)
    own = write_small(tmp_path / "own", recipe="encoder")
    for spec, name in (
        (None, "small"),
        ("small", "small"),
        ("1", "small"),
        ("cues", "cues"),
        ("nearest-noun", "nearest-noun"),
        ("nearest-noun:first", "nearest-noun:first"),
        ("deterministic", "deterministic"),
        (str(own), "own"),
    ):
        assert resolver_for(store, spec).name == name
    assert resolver_for(store, str(own)).model_id is None
    assert resolver_for(store, "nearest-noun:first").model_id is None
    assert states(store)["small"] == "active"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("best", "names no model of resolution"),
        ("rules", "rules is a model of identification, not of resolution"),
        ("linear", "the recipe linear has no model yet"),
        ("encoder", "the recipe encoder has no model yet"),
        ("nearest-noun:loudest", "nearest-noun:loudest"),
    ],
)
def test_a_word_that_names_none_is_told(store: Store, spec: str, words: str) -> None:
    ensure_built_in(store)
    with pytest.raises(ResolutionRecipeError, match=words):
        resolver_for(store, spec)


def test_a_parser_is_noted_and_another_forgets_what_was_said(store: Store) -> None:
    chosen = resolver_for(store)
    assert chosen.model_id is not None
    register_parser(store, chosen, "tagger 1")
    scores = (None,) * (len(IMPLICIT_KINDS) + len(DOGS.passage.tokens))
    store.predictions.save(chosen.model_id, [(1, Prediction("cues", "2", None, None, scores))])
    register_parser(store, resolver_for(store), "tagger 1")
    assert predicted(store) is not None
    register_parser(store, resolver_for(store), "tagger 2")
    assert predicted(store) is None


def test_a_model_of_both_tasks_is_checked_for_both(
    store: Store, package: Path, tmp_path: Path
) -> None:
    ensure_built_in(store)
    small = store.models.named("small")
    assert small is not None
    check_usable(store, small)
    damage(package)
    with pytest.raises(Exception, match=r"weights\.safetensors is damaged"):
        check_usable(store, small)
