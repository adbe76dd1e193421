"""Score responses to a benchmark, line by line."""

import json
import sys
from contextlib import redirect_stdout
from typing import Any

import click

from gnomon.core.errors import SpecError
from gnomon_analyses.own_files import reading
from gnomon_service.cli.completions import complete_benchmark


@click.command()
@click.option(
    "--benchmark",
    "name",
    required=True,
    help="The benchmark whose scorer is used.",
    shell_complete=complete_benchmark,
)
@click.option("--mode", type=click.Choice(["official", "strict"]), default="strict", show_default=True)
@click.option("--variant", help="The official scorer to use, for a benchmark with several.")
@click.option("--scorer", help="Scorer of your own questions where a record names none: a name, or JSON.")
def score(name: str, mode: str, variant: str | None, scorer: str | None) -> None:
    """Read records as NDJSON from stdin, write {id, score, metrics, flags} as NDJSON to stdout, in order."""
    from gnomon.core.benchmark import BENCHMARKS, Scoring
    from gnomon_tools.core.registry import UnknownPlugin

    try:
        plugin = BENCHMARKS.get(name)
    except UnknownPlugin as error:
        raise SpecError(str(error), field="--benchmark") from None
    plugin = reading(plugin, (), scorer)
    if variant is not None and variant not in plugin.variants:
        allowed = ", ".join(plugin.variants) or "none"
        raise SpecError(f"{name} has no variant {variant!r}; allowed: {allowed}", field="--variant")
    scoring: Scoring = "official" if mode == "official" else "strict"
    for number, line in enumerate(sys.stdin.buffer, start=1):
        if not line.strip():
            continue
        record = _record(line, number)
        try:
            with redirect_stdout(sys.stderr):  # what a plug-in prints is no score
                result = plugin.score_record(record, scoring=scoring, variant=variant)
        except SpecError as error:
            raise SpecError(str(error), field=f"line {number}") from None
        line_out: dict[str, Any] = {
            "id": record.get("id"),
            "score": result.value,
            "metrics": dict(result.metrics),
            "flags": list(result.flags),
        }
        if result.value is None:
            line_out["reason"] = result.reason
        if result.read_by:  # what was read, and by which rule
            line_out |= {"answer": result.answer, "read_by": result.read_by}
        # ASCII only: a response may hold a lone surrogate, which no terminal can print.
        click.echo(json.dumps(line_out))


def _record(line: bytes, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise SpecError(f"not JSON: {error}", field=f"line {number}") from None
    if not isinstance(record, dict):
        raise SpecError("must be one JSON object", field=f"line {number}")
    return record
