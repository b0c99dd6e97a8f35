"""`nfh-tui diff`: what changed between two releases, files or databases."""

from collections import Counter
from pathlib import Path

import click

from nfh_tui.cli.common import json_option, reporting
from nfh_tui.cli.progress import RowCounter

SHOWN = 10


@click.command(short_help="Tell what changed between two releases or databases.")
@click.argument("a", metavar="A", type=click.Path(path_type=Path))
@click.argument("b", metavar="B", type=click.Path(path_type=Path))
@click.option(
    "--most",
    type=click.IntRange(0),
    default=SHOWN,
    show_default=True,
    metavar="N",
    help="Numbers shown of each kind of change; 0 for all.",
)
@click.option(
    "--db",
    type=click.Path(path_type=Path),
    metavar="PATH",
    expose_value=False,
    help="Accepted as on every command; A and B say what is compared.",
)
@json_option
@reporting
def diff(a: Path, b: Path, most: int, as_json: bool) -> None:
    """Tell what changed from A to B, by kind of change.

    Each is the folder of a release, a gold or nfh file, or a database. Numbers are known by
    their passage and place. With an nfh file only what that format has is compared.
    """
    from nfh_db.pairing import pairing
    from nfh_tui.cli.diff_json import write_json
    from nfh_tui.cli.diff_text import write_text
    from nfh_tui.diffing import Counts, changed
    from nfh_tui.diffing_sides import entries, in_form, side_of

    left, right = side_of(a), side_of(b)
    form = in_form(left, right)
    with pairing() as pairs:
        for name, side in (("a", left), ("b", right)):
            with RowCounter(side.name) as progress:
                pairs.fill(name, entries(side, form=form, progress=progress))
        counts = Counts()
        for one in changed(pairs, counts.undecided):
            counts.add(one)
        again = changed(pairs, Counter())
        if as_json:
            write_json(left, right, pairs, counts, again, form=form)
        else:
            write_text(left, right, pairs, counts, again, form=form, most=most)
