"""List the tools, or call one on a scene."""

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path

import click

from gnomon.core.errors import SpecError
from gnomon.report.text_formats import clean, count
from gnomon_service.cli.completions import complete_tool

server_option = click.option(
    "--server",
    metavar="SERVER",
    help="A tool server: its command line, its address, or {mcp: …} or {openapi: …} as in a spec.",
)


@click.group()
def tools() -> None:
    """List the tools that agents call, or call one."""


@tools.command("list")
@click.option("--json", "as_json", is_flag=True, help="Schemas as one JSON document.")
@server_option
def list_tools(as_json: bool, server: str | None) -> None:
    """List every tool with its description, or those of a tool server, which is started for that."""
    from gnomon_tools.core.toolbox import TOOLS

    if server is not None:
        _list_server(server, as_json=as_json)
        return
    if as_json:
        documents = [
            {**tool.schema()["function"], **({"from": whose} if (whose := TOOLS.whose(tool.name)) else {})}
            for tool in TOOLS
        ]
        click.echo(json.dumps(documents, indent=2))
        return
    formatter = click.HelpFormatter(width=100)
    formatter.write_dl([(tool.name, TOOLS.with_origin(tool.name, tool.description)) for tool in TOOLS])
    click.echo(formatter.getvalue(), nl=False)


@tools.command("call")
@click.argument("name", shell_complete=complete_tool)
@click.option("--scene", help="A scene file (GeoJSON), for a tool that needs one.")
@click.option("--args", "text", default="{}", show_default=True, help="The arguments, one JSON object.")
@server_option
def call(name: str, scene: str | None, text: str, server: str | None) -> None:
    """Call the tool NAME, on a scene if it needs one, and print its result: JSON, or as a server wrote it."""
    from gnomon_workbench.tool_call import call_tool, scene_file

    try:
        args = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecError(f"not JSON: {error}", field="--args") from None
    on = None if scene is None else scene_file(Path(scene))
    if server is not None:
        from gnomon_service.cli.common import settings_of
        from gnomon_service.tool_servers import written_server
        from gnomon_workbench.servers import call_server, open_server

        settings = settings_of(None)
        answer = call_server(*open_server(written_server(server), settings), name, on, args, settings)
        click.echo(answer.content)
        for picture in answer.pictures:
            click.echo(f"<{picture.media_type} {picture.sha256}>")
        return
    with redirect_stdout(sys.stderr):  # what a plug-in prints is no part of its result
        result = call_tool(name, on, args)
    click.echo(json.dumps(result, indent=2, ensure_ascii=False))


def _list_server(text: str, *, as_json: bool) -> None:
    from gnomon_service.cli.common import settings_of
    from gnomon_service.tool_servers import written_server
    from gnomon_workbench.servers import open_server

    name, server = open_server(written_server(text), settings_of(None))
    listing = server.listing
    if listing is None:
        return
    if as_json:
        click.echo(json.dumps({"name": name, **server.model_dump(mode="json")}, indent=2))
        return
    about = ", ".join(part for part in (listing.server, listing.protocol) if part)
    click.echo(f"{name}: {count(len(listing.tools), 'tool')} of {about or server.where()}")
    if listing.sandbox:
        click.echo(listing.sandbox)
    formatter = click.HelpFormatter(width=100)
    formatter.write_dl([(tool.shown, clean(tool.description)) for tool in listing.tools])
    click.echo(formatter.getvalue(), nl=False)
