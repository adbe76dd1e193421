"""Create keys for the API."""

import datetime as dt

import click


@click.group()
def keys() -> None:
    """Keys for the API."""


@keys.command()
@click.option("--scope", type=click.Choice(["read", "run"]), default="run", show_default=True)
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), help="The last day on which it is valid.")
def new(scope: str, until: dt.datetime | None) -> None:
    """Print a new key, which is not stored, and the entry that makes the API accept it."""
    from gnomon_service.api_keys import entry_of, new_key

    key = new_key()
    click.echo(key)
    entry = entry_of(key, "read" if scope == "read" else "run", until.date() if until else None)
    click.echo("Its entry, for GNOMON_API_KEYS or a line of the file GNOMON_API_KEYS_FILE:", err=True)
    click.echo(entry)
