"""List the arm presets, or show the arms, contrasts and price of one."""

import json
from typing import TYPE_CHECKING, Any

import click

from gnomon.core.errors import SpecError
from service.cli.options import json_option

if TYPE_CHECKING:
    from gnomon.core.arm import Arm, Contrast


@click.command()
@click.argument("name", required=False)
@click.option("--benchmark", default="worlds", show_default=True, help="Whose oracle and scenes count.")
@click.option("--options", "text", default="{}", help='What the preset takes, such as {"rate": 0.5}.')
@json_option
def presets(name: str | None, benchmark: str, text: str, as_json: bool) -> None:
    """Show every preset, or what NAME makes of a spec: arms, contrasts, calls a sample."""
    if name is None:
        _listed(as_json=as_json)
        return
    shown = _plan(name, benchmark, text)
    click.echo(json.dumps(shown, indent=2, ensure_ascii=False) if as_json else _words(shown))


def _listed(*, as_json: bool) -> None:
    from gnomon.spec.preset import PRESETS

    if as_json:
        click.echo(
            json.dumps([{"name": one.name, "description": one.description} for one in PRESETS], indent=2)
        )
        return
    formatter = click.HelpFormatter(width=100)
    formatter.write_dl([(one.name, one.description) for one in PRESETS])
    click.echo(formatter.getvalue(), nl=False)


def _plan(name: str, benchmark: str, text: str) -> dict[str, Any]:
    from gnomon.core.agent import model_calls
    from gnomon.spec.preset import PRESETS, plan_arms

    if name not in PRESETS.names():
        raise SpecError(f"no preset {name!r}; there are: {', '.join(PRESETS.names())}", field="NAME")
    try:
        options = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecError(f"not JSON: {error}", field="--options") from None
    if not isinstance(options, dict):
        raise SpecError("one JSON object, please", field="--options")
    plan = plan_arms(name, options, benchmark=benchmark)
    calls = [model_calls(arm) for arm in plan.arms]
    return {
        "name": name,
        "description": PRESETS.get(name).description,
        "arms": [_as_json(arm, at) for arm, at in zip(plan.arms, calls, strict=True)],
        "contrasts": [_contrast_as_json(contrast) for contrast in plan.contrasts],
        "notes": list(plan.notes),
        "model_calls": [sum(least for least, _ in calls), sum(most for _, most in calls)],
    }


def _as_json(arm: "Arm", model_calls: tuple[int, int]) -> dict[str, Any]:
    plain = {**arm.model_dump(mode="json", exclude={"contract"}), "tools": list(arm.tools)}
    contract = {"frozen_toolset_hash": arm.contract, "pinned": arm.contract}
    return {**plain, **contract, "model_calls": list(model_calls)}


def _contrast_as_json(contrast: "Contrast") -> dict[str, Any]:
    plain = contrast.model_dump(mode="json", exclude={"primary"})
    return {**plain, "is_primary": contrast.primary}


def _words(shown: dict[str, Any]) -> str:
    formatter = click.HelpFormatter(width=110)
    formatter.write_text(shown["description"])
    with formatter.section("Arms (calls of the model a sample)"):
        formatter.write_dl([(arm["name"], _calls(arm["model_calls"])) for arm in shown["arms"]])
    with formatter.section("Contrasts (variant − baseline; * primary)"):
        rows = [
            (f"{one['variant']} − {one['baseline']}{' *' if one['is_primary'] else ''}", one["isolates"])
            for one in shown["contrasts"]
        ]
        formatter.write_dl(rows)
    for note in shown["notes"]:
        formatter.write_text(f"Note: {note}.")
    formatter.write_text(f"A sample costs {_calls(shown['model_calls'])} calls of the model.")
    return formatter.getvalue().rstrip("\n")


def _calls(ends: list[int]) -> str:
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
