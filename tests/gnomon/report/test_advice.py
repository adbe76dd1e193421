"""Checks that a spec takes, word for word, what alerts and findings tell people to set."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

import gnomon
from gnomon.spec.job_spec import JobSpec

KERNEL = Path(gnomon.__file__).parent
ADVISING = (
    *("report/reply_alerts.py", "report/reply_words.py", "report/sections/letters.py"),
    *("core/missing.py", "fitness/findings.py"),
)
DOCSTRING = re.compile(r'"""[\s\S]*?"""')
SETTING = re.compile(r"`([a-z_]+: [^`]+)`")
FIELD = re.compile(r"`(models\[\]|arms\[\]|limits|judge)\.([a-z_]+)`")


def advised(pattern: re.Pattern[str]) -> list[Any]:
    sources = (DOCSTRING.sub("", (KERNEL / name).read_text(encoding="utf-8")) for name in ADVISING)
    return sorted({found for source in sources for found in pattern.findall(source)})


def specs_with(setting: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A spec with the setting in the model, in its options, in the arm, and in the job."""
    for model, arm, job in (
        (setting, {}, {}),
        ({"options": setting}, {}, {}),
        ({}, setting, {}),
        ({}, {}, setting),
    ):
        tools = {"name": "tools", "agent": "react", "tools": ["bearing"], **arm}
        yield {
            "benchmark": "questions",
            "data": "q.jsonl",
            "models": [{"id": "m", **model}],
            "arms": [tools],
            **job,
        }


def is_taken(spec: dict[str, Any]) -> bool:
    try:
        JobSpec.model_validate(spec)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("setting", advised(SETTING))
def test_what_is_advised_is_taken_by_a_spec(setting: str) -> None:
    in_model, in_options, in_arm, in_job = map(is_taken, specs_with(yaml.safe_load(setting)))
    assert in_model or in_arm or in_job or (in_options and setting.startswith("chat_template_kwargs"))


@pytest.mark.parametrize(("part", "field"), advised(FIELD))
def test_fields_that_advice_names_are_there(part: str, field: str) -> None:
    properties = JobSpec.model_json_schema()["$defs"]
    of_part = {"models[]": "ModelSpec", "arms[]": "Arm", "limits": "LimitsSpec", "judge": "ModelSpec"}[part]
    assert field in properties[of_part]["properties"]
