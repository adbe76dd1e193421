"""Write a small package for a tool, benchmark, agent, preset or model of your own."""

from pathlib import Path

import click


@click.command()
@click.argument("kind", type=click.Choice(["tool", "benchmark", "agent", "preset", "model"]))
@click.argument("name")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="Folder in which the package's own folder is made; default the current one.",
)
def new(kind: str, name: str, out: Path) -> None:
    """Write a package for a new KIND called NAME: a module that works, its tests, and a job that uses it.

    NAME is a Python name that nothing here has yet. The tests hold it to what all of its kind keep.
    """
    from gnomon_workbench.new_plugin.write import write_plugin

    plugin = write_plugin(kind, name, out)
    click.echo(f"{plugin.folder}: {', '.join(plugin.files)}")
    install = "pip install --no-build-isolation -e '.[test]'"
    click.echo(f"cd {plugin.folder} && {install} && python -m pytest  # then: gnomon run job.yaml", err=True)
