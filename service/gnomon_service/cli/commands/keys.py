"""Create and list keys for the API."""

import datetime as dt
import json
from pathlib import Path

import click

from gnomon_service.cli.options import data_dir_option, json_option


@click.group(invoke_without_command=True)
@data_dir_option
@json_option
@click.pass_context
def keys(ctx: click.Context, data_dir: Path | None, as_json: bool) -> None:
    """Keys for the API; without a subcommand, what each spent this month, and who did what."""
    if ctx.invoked_subcommand is not None:
        return
    from gnomon.report.text_formats import count, dollars
    from gnomon_service.cli.common import existing_store, settings_of
    from gnomon_service.keys_view import keys_view

    entries = settings_of(data_dir).api_keys.entries()
    with existing_store(data_dir) as store:
        view = keys_view(store, entries)
    if as_json:
        click.echo(json.dumps(view, indent=2))
        return
    if not entries:
        click.echo("no keys: GNOMON_API_KEYS and GNOMON_API_KEYS_FILE are not set", err=True)
    for key in view["keys"]:
        usd, tokens = dollars(key["usd"]), f"{key['tokens']:,}"
        usd += "" if key["usd_budget"] is None else f" of {dollars(key['usd_budget'])}"
        tokens += "" if key["tokens_budget"] is None else f" of {key['tokens_budget']:,}"
        until = f", until {key['until']}" if key["until"] else ""
        spent = f"{usd}, {tokens} tokens, {count(key['jobs'], 'job')} this month"
        click.echo(f"{key['name']}  {key['owner'] or '-'}  {key['scope']}{until}  {spent}")
    for done in view["done"]:
        did = "looked at" if done["action"] == "looked" else done["action"]
        times = f", {done['times']:,} times" if done["times"] > 1 else ""
        click.echo(f"{done['last_at'][:16]}  {done['who']} {did} {done['job_id']}{times}  {done['job_name']}")


@keys.command()
@click.option("--scope", type=click.Choice(["read", "run"]), default="run", show_default=True)
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), help="The last day on which it is valid.")
@click.option("--name", help="What it is called in pages and logs.")
@click.option("--owner", help="Whose it is: jobs are found by it.")
@click.option("--usd", help="Dollars that its jobs may cost in a month.")
@click.option("--tokens", help="Tokens that its jobs may use in a month.")
def new(
    scope: str,
    until: dt.datetime | None,
    name: str | None,
    owner: str | None,
    usd: str | None,
    tokens: str | None,
) -> None:
    """Print a new key, which is not stored, and the entry that makes the API accept it."""
    from gnomon_service.api_keys import entry_of, new_key

    key = new_key()
    about = {"name": name, "owner": owner, "usd": usd, "tokens": tokens}
    entry = entry_of(key, "read" if scope == "read" else "run", until.date() if until else None, **about)
    click.echo(key)
    click.echo("Its entry, for GNOMON_API_KEYS or a line of the file GNOMON_API_KEYS_FILE:", err=True)
    click.echo(entry)
