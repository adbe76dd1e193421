"""List the benchmarks, or show the tasks, options, data and abilities of one."""

import json
from typing import TYPE_CHECKING, Any

import click

from gnomon.core.errors import NotFound
from gnomon_service.cli.completions import complete_benchmark
from gnomon_service.cli.options import json_option

if TYPE_CHECKING:
    from gnomon.core.benchmark import Benchmark

NO_DATA = "none needed: its questions are generated"
DATA = "a folder with its published files; docs/benchmarks/ shows the layout of each benchmark's"


@click.command()
@click.argument("name", required=False, shell_complete=complete_benchmark)
@json_option
def benchmarks(name: str | None, as_json: bool) -> None:
    """List every benchmark, or show of NAME what a spec may select and what data it needs."""
    from gnomon.core.benchmark import BENCHMARKS
    from gnomon_service.cli.tables import print_table

    if name is not None:
        if name not in BENCHMARKS:
            raise NotFound(f"no benchmark {name!r}; there are: {', '.join(BENCHMARKS.names())}", field="NAME")
        document = _document(name, BENCHMARKS.get(name), about=BENCHMARKS.summary(name))
        click.echo(json.dumps(document, indent=2) if as_json else _text(document))
        return
    documents = [_document(plugin.name, plugin, about="") for plugin in BENCHMARKS]
    if as_json:
        click.echo(json.dumps(documents, indent=2))
        return
    rows = [
        (
            f"{row['name']} ({row['from']})" if "from" in row else row["name"],
            str(len(row["tasks"])),
            "files" if row["needs_data"] else "none",
            ", ".join(row["tasks"]),
        )
        for row in documents
    ]
    print_table(("benchmark", "tasks", "data", "their names"), rows, right=("tasks",), wraps="their names")


def _document(name: str, plugin: "Benchmark", *, about: str) -> dict[str, Any]:
    from gnomon.core.benchmark import ABILITIES, BENCHMARKS, MODULES, SupportsOptions, benchmark_module

    abilities = [ability.__name__ for ability in ABILITIES if isinstance(plugin, ability)]
    document = {
        "name": name,
        "version": plugin.version,
        "tasks": list(plugin.tasks),
        "scenes": list(plugin.scenes),
        "variants": list(plugin.variants),
        "options": sorted(plugin.options) if isinstance(plugin, SupportsOptions) else [],
        "headline": plugin.headline,
        "needs_data": plugin.needs_data,
        "data": DATA if plugin.needs_data else NO_DATA,
        "published_rows": len(plugin.published()),
        "abilities": abilities,
        "modules": [module for module in MODULES if benchmark_module(name, module) is not None],
    }
    whose = BENCHMARKS.whose(name)
    document.update({"from": whose} if whose else {})
    return {"description": about, **document} if about else document


def _text(document: dict[str, Any]) -> str:
    from gnomon.core import benchmark

    formatter = click.HelpFormatter(width=100)
    about = f": {document['description']}" if "description" in document else ""
    formatter.write_text(f"{document['name']} {document['version']}{about}")
    named = {
        "tasks": "select.tasks",
        "scenes": "select.scenes",
        "options": "varied by select",
        "variants": "official scorers",
    }
    rows = [(title, ", ".join(document[key])) for key, title in named.items() if document[key]]
    rows.append(("data", document["data"]))
    if "from" in document:
        rows.append(("from", document["from"]))
    rows.append(("headline", document["headline"].replace("_", " ")))
    if document["published_rows"]:
        rows.append(("paper's results", f"{document['published_rows']} rows, beside yours in the report"))
    with formatter.section("In a spec"):
        formatter.write_dl([("benchmark", document["name"]), *rows])
    if document["abilities"]:
        with formatter.section("Abilities"):
            docs = {name: getattr(benchmark, name).__doc__ or "" for name in document["abilities"]}
            formatter.write_dl([(name, doc.partition("\n")[0]) for name, doc in docs.items()])
    if "audit" in document["modules"]:
        data = " --data DIR" if document["needs_data"] else ""
        formatter.write_text(
            f"`gnomon audit --benchmark {document['name']}{data}` looks for shortcuts and errors."
        )
    return formatter.getvalue().rstrip("\n")
