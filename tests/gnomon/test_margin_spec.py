"""How a margin may be written in a spec."""

from typing import Any

import pytest
from pydantic import ValidationError

from gnomon.spec.analysis_spec import AnalysisSpec
from gnomon.spec.margin_spec import margin_of


def test_a_number_stays_a_number() -> None:
    analysis = AnalysisSpec.model_validate({"margin": 0.1})
    assert (analysis.margin, analysis.nominal_margin) == (0.1, 0.1)
    assert analysis.model_dump(mode="json")["margin"] == 0.1
    assert AnalysisSpec().margin == 0.05


def test_a_form_is_written_and_read_again() -> None:
    written = {"relative": 0.1, "subsets": {"near": {"odds": 1.2}, "far": 0.02}}
    analysis = AnalysisSpec.model_validate({"margin": written})
    again = AnalysisSpec.model_validate_json(analysis.model_dump_json())
    assert again == analysis
    margins = {scope: margin_of(again.margin, scope) for scope in ("all", "near", "far")}
    assert {scope: (margin.kind, margin.size) for scope, margin in margins.items()} == {
        "all": ("relative", 0.1),
        "near": ("odds", 1.2),
        "far": ("absolute", 0.02),
    }


@pytest.mark.parametrize(
    ("margin", "says"),
    [
        (1, "must be above 0 and below 1"),
        ("much", "must be a number such as 0.05"),
        (True, "must be above 0 and below 1"),
        ({}, "needs exactly one of absolute, relative and odds"),
        ({"absolute": 0.05, "odds": 1.2}, "needs exactly one of absolute, relative and odds"),
        ({"odds": 0.9}, "odds: Input should be greater than 1"),
        ({"relativ": 0.1}, "relativ: Extra inputs are not permitted"),
        ({"absolute": 0.05, "subsets": {"near": 2}}, "subsets.near: must be above 0 and below 1"),
        (10**400, "must be above 0 and below 1"),
        ({"absolute": 0.05, "subsets": {"near": -(10**400)}}, "subsets.near: must be above 0 and below 1"),
    ],
)
def test_a_wrong_margin_is_named_with_what_it_may_be(margin: Any, says: str) -> None:
    with pytest.raises(ValidationError) as error:
        AnalysisSpec.model_validate({"margin": margin})
    [only] = error.value.errors()
    assert only["loc"] == ("margin",)
    assert says in only["msg"]
