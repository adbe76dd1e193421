"""A posted spec is held to each rule of one list."""

import traceback
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.errors import DataError, NotFound, SpecError
from gnomon.media import MediaStore
from gnomon.spec import rules
from gnomon.spec.rules import Context, check_spec, open_samples
from gnomon.spec.token_budget import StoredJob
from tests.rule_table import CASES, SPEC, breaking

LISTS = (rules.AS_WRITTEN, (rules.fields,), rules.OF_THE_SPEC, rules.OF_THE_PLACE, rules.OF_THE_SAMPLES)
RULES = [rule for rules_of_a_kind in LISTS for rule in rules_of_a_kind]


def no_job(job_id: str) -> StoredJob:
    raise NotFound(f"no job {job_id!r}")


CONTEXT = Context(agents=("direct", "react"), stored_job=no_job, is_request=False, is_trusted=True)


def hold(spec: Any, folder: Path) -> None:
    open_samples(check_spec(spec, CONTEXT), MediaStore(folder / "media"))


def test_every_rule_is_broken_by_one_spec_of_the_table_in_the_same_order() -> None:
    assert [rule.__name__ for rule in RULES] == list(CASES)


def test_every_rule_says_in_one_line_what_it_refuses() -> None:
    for rule in RULES:
        text = rule.__doc__ or ""
        assert text.startswith("Refuses ")
        assert text.endswith(".")
        assert "\n" not in text


def test_a_spec_that_breaks_no_rule_passes(tmp_path: Path) -> None:
    hold(SPEC, tmp_path)


@pytest.mark.parametrize(
    ("change", "field"),
    [({"data": "."}, "data"), ({"models": [{"id": "openai/m"}]}, "models.0.id")],
)
def test_what_no_caller_has_allowed_is_refused(change: dict[str, Any], field: str) -> None:
    with pytest.raises(SpecError) as refused:
        check_spec({**SPEC, **change}, Context(agents=("direct", "react")))
    assert refused.value.field == field


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_refuses_what_breaks_it_with_the_field_and_what_is_allowed(rule: str, tmp_path: Path) -> None:
    spec = breaking(rule, tmp_path)
    with pytest.raises((SpecError, DataError)) as refused:
        hold(spec, tmp_path)
    assert refused.value.field == CASES[rule].field
    assert CASES[rule].words in refused.value.message
    names = {each.__name__ for each in RULES}
    called = [
        frame.name for frame in traceback.extract_tb(refused.value.__traceback__) if frame.name in names
    ]
    assert called[0] == rule


def test_a_number_that_is_not_finite_is_refused_where_anything_may_stand(tmp_path: Path) -> None:
    model = {"id": "openai/m", "options": {"x": float("nan")}}  # as `.nan` of a YAML file
    with pytest.raises(SpecError, match="not JSON compliant"):
        hold({**SPEC, "models": [model]}, tmp_path)
