"""List the arm presets, or show the arms, contrasts and number of model calls of one."""

import json
from typing import TYPE_CHECKING, Any

import click

from gnomon.core.errors import SpecError
from gnomon_service.cli.completions import complete_benchmark, complete_preset
from gnomon_service.cli.options import json_option

if TYPE_CHECKING:
    from gnomon.core.arm import Arm, Contrast


@click.command()
@click.argument("name", required=False, shell_complete=complete_preset)
@click.option(
    "--benchmark",
    default="worlds",
    show_default=True,
    help="The benchmark whose oracle and scenes apply.",
    shell_complete=complete_benchmark,
)
@click.option("--options", "text", default="{}", help='The preset\'s options as JSON, such as {"rate": 0.5}.')
@json_option
def presets(name: str | None, benchmark: str, text: str, as_json: bool) -> None:
    """List every preset, or show what NAME adds to a spec: arms, contrasts, model calls per sample."""
    if name is None:
        _listed(as_json=as_json)
        return
    document = _plan(name, benchmark, text)
    click.echo(json.dumps(document, indent=2, ensure_ascii=False) if as_json else _text(document))


def _listed(*, as_json: bool) -> None:
    from gnomon.spec.preset import PRESETS

    if as_json:
        click.echo(
            json.dumps(
                [
                    {
                        "name": preset.name,
                        "description": preset.description,
                        **({"from": whose} if (whose := PRESETS.whose(preset.name)) else {}),
                    }
                    for preset in PRESETS
                ],
                indent=2,
            )
        )
        return
    formatter = click.HelpFormatter(width=100)
    formatter.write_dl(
        [(preset.name, PRESETS.with_origin(preset.name, preset.description)) for preset in PRESETS]
    )
    click.echo(formatter.getvalue(), nl=False)


def _plan(name: str, benchmark: str, text: str) -> dict[str, Any]:
    from gnomon.core.agent import model_calls
    from gnomon.spec.preset import PRESETS, plan_arms

    if name not in PRESETS:
        raise SpecError(f"no preset {name!r}; there are: {', '.join(PRESETS.names())}", field="NAME")
    try:
        options = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecError(f"not JSON: {error}", field="--options") from None
    if not isinstance(options, dict):
        raise SpecError("must be one JSON object", field="--options")
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


def _text(document: dict[str, Any]) -> str:
    formatter = click.HelpFormatter(width=110)
    formatter.write_text(document["description"])
    with formatter.section("Arms (model calls per sample)"):
        formatter.write_dl([(arm["name"], _calls(arm["model_calls"])) for arm in document["arms"]])
    with formatter.section("Contrasts (variant − baseline; * primary)"):
        rows = [
            (f"{row['variant']} − {row['baseline']}{' *' if row['is_primary'] else ''}", row["isolates"])
            for row in document["contrasts"]
        ]
        formatter.write_dl(rows)
    for note in document["notes"]:
        formatter.write_text(f"Note: {note}.")
    formatter.write_text(f"One sample takes {_calls(document['model_calls'])} model calls.")
    return formatter.getvalue().rstrip("\n")


def _calls(ends: list[int]) -> str:
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
