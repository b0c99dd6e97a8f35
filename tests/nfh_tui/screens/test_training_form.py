"""The form of a training: what it repeats, what is typed in it, the command that it shows."""

import shlex
from dataclasses import replace

import pytest

from nfh_tui.cli.retrain import retrain
from nfh_tui.jobs.training import new_job
from nfh_tui.screens.training_form import (
    UNCLOSED,
    TrainingForm,
    call_of,
    command_of,
    job_of,
    last_form,
)
from nfh_tui.services.report_process import ReportError
from tests.nfh_tui.screens.conftest import some, until
from tests.nfh_tui.screens.test_jobs import opened

WHOLE = new_job(
    "resolution",
    "linear",
    words=("c=0.5", "features=paper", "seed=a b"),
    query="-class:AGE heads>1",
    split="train",
    parser="spacy:en_core_web_sm",
    promote=False,
    asked_by="otto",
)


@pytest.fixture(autouse=True)
def no_runner(monkeypatch) -> None:
    """Jobs stay as the tests make them."""
    monkeypatch.setenv("NFH_TUI_RUNNER", "off")


def test_the_command_is_one_for_a_shell_and_says_all() -> None:
    form = TrainingForm("resolution", "linear", query="heads>1 text:it's", promote=False)
    words = shlex.split(command_of(form), posix=True)
    assert words == ["nfh-tui", *call_of(form)]
    assert "'heads>1" in command_of(form)
    assert words[-1] == "--no-promote"
    assert "promote" not in command_of(replace(form, promote=True))
    typed = replace(form, settings="c=2 'seed=1 2'", split="dev")
    assert "--set c=2 --set 'seed=1 2' --split dev" in command_of(typed)
    assert command_of(replace(form, settings="'c=2")) == UNCLOSED


@pytest.mark.parametrize("new", [WHOLE, new_job("both", "small", words=("base=alpha", "lr=1"))])
def test_the_last_training_is_repeated_whole(store, new) -> None:
    store.jobs.add(new_job("identification", "svm"))
    store.jobs.add(new)
    form = last_form(store.jobs.all())
    again = job_of(form, new.asked_by)
    assert again == new
    # And so is it by the command: its own parser reads the same from it.
    context = retrain.make_context("retrain", call_of(form)[1:])
    told = context.params
    query = " ".join([*told["query"], told["named_query"] or ""]).strip()
    assert query == new.arguments["query"]
    assert (told["task"], told["recipe"]) == (new.task, new.arguments["recipe"])
    assert list(told["settings"]) == new.arguments["words"]
    for name in ("split", "parser", "promote", "scheduler"):
        assert told[name] == new.arguments[name]


def test_what_is_no_training_of_the_form_is_passed_over(store) -> None:
    assert last_form(store.jobs.all()) is None
    store.jobs.add(new_job("identification", "svm", words=("c=3",)))
    store.jobs.add(new_job("resolution", "of-tomorrow"))
    assert last_form(store.jobs.all()) == TrainingForm("identification", "svm", settings="c=3")


async def test_enter_repeats_what_the_command_asked_for(
    open_desk, corpus, store, monkeypatch
) -> None:
    store.jobs.add(WHOLE)
    calls = []

    async def queued(arguments, database, kind):
        calls.append(list(arguments))
        return some(kind, {"id": store.jobs.add(WHOLE)})

    monkeypatch.setattr("nfh_tui.screens.jobs.report", queued)
    async with open_desk(path=corpus) as desk:
        screen = await opened(desk)
        await desk.press("t")
        text = desk.text()
        for words in ("c=0.5 features=paper", "‹ train ›", "never", "--no-promote"):
            assert words in text
        await desk.press("enter")
        await until(desk, lambda: len(store.jobs.all()) == 2)
        await until(desk, lambda: desk.app.screen is screen)
    assert calls == [[*call_of(last_form(store.jobs.all())), "--as", "edith"]]


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.long)])
async def test_settings_are_typed_and_checked_and_kept(
    open_desk, corpus, store, monkeypatch, size
) -> None:
    async def refused(arguments, database, kind):
        raise ReportError("Usage: nfh-tui retrain\n\nError: 'zz=1' is not a setting of\nlinear")

    store.jobs.add(new_job("resolution", "linear"))
    monkeypatch.setattr("nfh_tui.screens.jobs.report", refused)
    async with open_desk(path=corpus, size=size) as desk:
        screen = await opened(desk)
        await desk.press("t", "j", "j", "j", "l", *"zz", "equals_sign", *"1 q=j'", "enter")
        assert f"! {UNCLOSED}" in desk.text() and "1 q=j'" in desk.text(), "the line stays"
        await desk.press("backspace", "enter")
        form = desk.app.screen.form
        assert form.settings == "zz=1 q=j"
        assert "--set zz=1 --set q=j" in desk.text()
        await desk.press("enter")
        await until(desk, lambda: "! 'zz=1' is not a setting of linear" in desk.text())
        assert desk.app.screen.form == form and len(store.jobs.all()) == 1
        await desk.press("escape")
        assert desk.app.screen is screen
        await desk.press("t")
        assert desk.app.screen.form == form
        await desk.press("j", "j", "j", "l", *"!", "escape")
        assert desk.app.screen.form.settings == "zz=1 q=j!"


async def test_the_command_checks_what_was_typed(open_desk, corpus, store) -> None:
    store.jobs.add(new_job("resolution", "linear", words=("nosuch=1",)))
    async with open_desk(path=corpus) as desk:
        await opened(desk)
        await desk.press("t", "enter")
        await until(desk, lambda: "is not a setting of linear" in desk.text())
        assert len(store.jobs.all()) == 1
