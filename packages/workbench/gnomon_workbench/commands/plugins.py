"""List the plug-ins that others wrote: which package each comes from, and why one does not work."""

import json
import sys

import click

from gnomon_service.cli.main import DONE, INCOMPLETE
from gnomon_service.cli.options import json_option


@click.command()
@json_option
def plugins(as_json: bool) -> None:
    """List every plug-in of others, of packages that are installed and of files, and what is wrong with it.

    Each is loaded. Exit code 1: one does not work; no job can name it, and `tools: all` is without it.
    """
    from gnomon.spec.pins import others
    from gnomon_tools.core.outside import unread_packages

    found, unread = others(), unread_packages()
    if as_json:
        click.echo(json.dumps({"plugins": found, "unread": list(unread)}, indent=2))
    else:
        formatter = click.HelpFormatter(width=100)
        if found:
            formatter.write_dl(
                [
                    (f"{each['kind']} {each['name']}", each["fault"] or f"works (from {each['from']})")
                    for each in found
                ]
            )
        for fault in unread:
            formatter.write_text(fault)
        click.echo(
            formatter.getvalue() or "There are no plug-ins but Gnomon's own.", nl=not formatter.getvalue()
        )
    sys.exit(INCOMPLETE if unread or any(each["fault"] for each in found) else DONE)
