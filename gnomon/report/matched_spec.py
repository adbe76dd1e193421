"""Writes the lines of a spec that give a baseline without tools the tokens that tools took in this job."""

import json
from typing import Any

from pydantic import ValidationError

from gnomon.core.arm import Arm, differences
from gnomon.presets.matched_compute import MatchedComputeOptions, matched_compute
from gnomon.report.pairs import ArmPair
from gnomon.report.section import UNFINISHED
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.token_budget import ARM, FROM

OPTIONS = ("agent", "max_turns", "max_tool_calls", "max_tokens", "max_usd", "show")


def matched_lines(spec: JobSpec, pair: ArmPair, *, job_id: str, status: str) -> str:
    """The lines, in place of `arms` and `analysis` of the job's own spec; empty where they do not fit.

    They fit where the variant's live tools are all that the preset's arm has too, the baseline has none, and
    the job has ended. A budget is that of one model.
    """
    baseline, variant = spec.arm(pair.baseline), spec.arm(pair.variant)
    if spec.analysis.preset == matched_compute.name or status in UNFINISHED:
        return ""
    if baseline.tools or not variant.tools or variant.outside is not None:
        return ""
    try:
        options = _options(variant)
        preset = MatchedComputeOptions.model_validate({**options, "tools": list(variant.tools), "tokens": 1})
    except ValidationError:  # a tool of the job is no longer here
        return ""
    if differences(preset.with_tools("tools"), variant):
        return ""
    written = {FROM: job_id, ARM: variant.name, **options, "tools": list(variant.tools)}
    fields = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in written.items()]
    lines = f"arms: {{preset: {matched_compute.name}, {', '.join(fields)}}}"
    one = f", and {pair.model} as its one model" if len(spec.models) > 1 else ""
    return f"# the spec of {job_id}, with this in place of its arms and analysis{one}\n{lines}"


def _options(variant: Arm) -> dict[str, Any]:
    """What the preset must be told, as it has another default."""
    fields = variant.model_dump(mode="json", include=set(OPTIONS))
    defaults = MatchedComputeOptions(tokens=1, tools=list(variant.tools)).model_dump(
        mode="json", include=set(OPTIONS)
    )
    return {name: fields[name] for name in OPTIONS if fields[name] != defaults[name]}
