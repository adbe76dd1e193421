"""List the tools, or call one on a scene."""

import json
from pathlib import Path

import click

from gnomon.core.errors import SpecError
from service.cli.completions import complete_tool


@click.group()
def tools() -> None:
    """List the tools that agents call, or call one."""


@tools.command("list")
@click.option("--json", "as_json", is_flag=True, help="Schemas as one JSON document.")
def list_tools(as_json: bool) -> None:
    """List every tool with its description."""
    from tools.core.toolbox import TOOLS

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
def call(name: str, scene: str | None, text: str) -> None:
    """Call the tool NAME, on a scene if it needs one, and print its result as JSON."""
    from service.tool_call import call_tool, scene_file

    try:
        args = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecError(f"not JSON: {error}", field="--args") from None
    result = call_tool(name, None if scene is None else scene_file(Path(scene)), args)
    click.echo(json.dumps(result, indent=2, ensure_ascii=False))
