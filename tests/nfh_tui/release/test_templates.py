"""The templates lie in the package, escape what HTML holds, and are loaded when used."""

import subprocess
import sys
from importlib.resources import files

from nfh_tui.services.templates import _environment, paragraph, point


def test_each_template_is_in_the_package_and_can_be_read() -> None:
    environment = _environment()
    found = {one.name for one in files("nfh_tui").joinpath("templates").iterdir()}
    assert found == set(environment.list_templates())
    assert {"datasheet.md.j2", "model_card.md.j2"} <= found
    for name in found:
        assert environment.loader.get_source(environment, name)[0].strip()


def test_values_are_escaped_in_html_alone() -> None:
    environment = _environment()
    assert environment.autoescape("x.html.j2") and not environment.autoescape("x.md.j2")


def test_lines_of_a_template_are_one_paragraph() -> None:
    assert paragraph("\n  one\n   two  three\n") == "one two  three\n"
    assert point("a " * 80).splitlines()[1].startswith("  a")


def test_nothing_loads_the_templates_before_they_are_used() -> None:
    code = (
        "import sys, nfh_tui.app, nfh_tui.cli.release, nfh_tui.cli.evaluate, "
        "nfh_tui.services.datasheet, nfh_tui.services.training; print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    assert "jinja2" not in loaded
