"""Answer: what a job found for one model, in one sentence."""

from collections.abc import Sequence

from gnomon.report.schema import ContrastReport, Verdict
from gnomon.report.verdict import points

SAYS: dict[Verdict, str] = {"helps": "helps", "hurts": "hurts", "no_effect": "makes no difference"}


def answers(contrasts: Sequence[ContrastReport], models: Sequence[str], *, benchmark: str) -> list[str]:
    """One sentence a model: its primary finding, or what each of several found, sorted by verdict."""
    found = []
    for model in models:
        mine = [one for one in contrasts if one["model"] == model and one["family"] == "primary"]
        if len(mine) == 1:
            found.append(f"{benchmark}: {mine[0]['verdict_text']}")
        elif mine:
            found.append(f"{benchmark}, {model}: {_sorted_out(mine)}.")
    return found


def _sorted_out(contrasts: Sequence[ContrastReport]) -> str:
    parts = [
        f"{_named(one)} {says}"
        for verdict, says in SAYS.items()
        for one in contrasts
        if one["verdict"] == verdict
    ]
    unknown = [_named(one) for one in contrasts if one["verdict"] == "undecided"]
    if unknown:
        parts.append(f"it can’t be told whether {' or '.join(unknown)} changes anything")
    return "; ".join(parts)


def _named(one: ContrastReport) -> str:
    name = one["isolates"] or f"{one['variant']} against {one['baseline']}"
    return name if one["diff"] is None or one["withheld"] else f"{name} ({points(one['diff'])} points)"
