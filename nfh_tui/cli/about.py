"""`nfh-tui formats` and `nfh-tui keys`: what the registries say."""

import click

from nfh_tui.cli.common import emit, json_option, no_db_option, reporting


@click.command(short_help="List the file formats.")
@no_db_option
@json_option
@reporting
def formats(as_json: bool) -> None:
    """List the file formats: what they hold, which way they go, one line of each."""
    from nfh_db.formats.registry import FORMATS

    if as_json:
        emit(
            {
                "formats": [
                    {
                        "name": format_.name,
                        "extensions": list(format_.extensions),
                        "import": True,
                        "export": format_.writer is not None,
                        "description": format_.description,
                        "example": format_.example,
                    }
                    for format_ in FORMATS
                ]
            }
        )
        return
    for format_ in FORMATS:
        extensions = " ".join(format_.extensions)
        click.echo(f"{format_.name}  ({extensions}; {format_.direction})")
        click.echo(f"  {format_.description}")
        click.echo(f"  {format_.example}")


@click.command(short_help="List the keys of the workbench.")
@no_db_option
@json_option
@reporting
def keys(as_json: bool) -> None:
    """List the keys of the workbench, by what they are for."""
    from nfh_tui.actions import ACTIONS, key_table_text

    if as_json:
        emit(
            {
                "keys": [
                    {
                        "id": action.id,
                        "group": action.group,
                        "keys": list(action.keys),
                        "shown": action.shown,
                        "title": action.title,
                        "description": action.description,
                    }
                    for action in ACTIONS
                ]
            }
        )
        return
    click.echo(key_table_text(), nl=False)
