"""Say what a job would cost and could detect; spend nothing."""

import json
from pathlib import Path
from typing import Any

import click

from service.cli.options import data_dir_option, json_option


@click.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("--pilot", metavar="JOB", help="A stored job whose costs and spread stand in for assumptions.")
@data_dir_option
@json_option
def plan(spec: Path, pilot: str | None, data_dir: Path | None, as_json: bool) -> None:
    """Say what the job in SPEC would cost and could detect: trials, price per arm, smallest effect."""
    from service.cli.common import draft_of, existing_store, settings_of
    from service.planning import plan as plan_job

    draft = draft_of(spec, settings_of(data_dir))
    store = existing_store(data_dir) if pilot else None
    try:
        found = plan_job(draft, store=store, pilot=pilot)
    finally:
        if store is not None:
            store.close()
    click.echo(json.dumps(found, indent=2) if as_json else _text(found))


def _text(found: dict[str, Any]) -> str:
    lines = [
        *(f"Warning: {warning}" for warning in found["warnings"]),
        f"{found['name']}: {found['trials']:,} trials",
        f"{found['samples']:,} samples in {found['clusters']:,} clusters and {found['cells']:,} cells",
        "",
    ]
    names = [f"{arm['model']} / {arm['arm']}" for arm in found["arms"]]
    width = max(map(len, names))
    for name, arm in zip(names, found["arms"], strict=True):
        tokens = f"{arm['prompt_tokens']:>12,} + {arm['completion_tokens']:>10,} tokens"
        money = f"about {_usd(arm['usd'])}, at most {_usd(arm['usd_at_most'])}"
        lines.append(f"{name:<{width}}  {arm['trials']:>8,} trials  {tokens}  {money}")
    limit = "none" if found["usd_limit"] is None else _usd(found["usd_limit"])
    lines += [f"In all about {_usd(found['usd'])}; the job's limit: {limit}.", ""]
    lines.append(
        "Smallest true difference it could detect, in points, by the share of samples on which arms differ:"
    )
    for one in found["detectable"]:
        reach = [
            f"{what} {100 * one[key]:5.1f}{' (beyond reach)' if one[key] > one['discordant'] else ''}"
            for what, key in (("all samples", "all"), ("smallest cell", "smallest_cell"))
        ]
        lines.append(f"  {one['discordant']:.0%} differ: {', '.join(reach)}")
    for one in (found["pilot"] or {}).get("contrasts", ()):
        arms = f"{one['model']}, {one['variant']} − {one['baseline']}"
        lines.append(f"  by the pilot: {arms}: {100 * one['detectable']:.1f}")
    counted = found["comparisons"]
    lines += ["", f"Comparisons: {counted['primary']} primary of {counted['all']}.", "Assumed:"]
    return "\n".join(lines + [f"  {line}" for line in found["assumptions"]])


def _usd(value: float | None) -> str:
    return "unknown (give the model a price)" if value is None else f"${value:,.2f}"
