"""The API under requests nobody would write: no 500, no hang, only answers that its document tells of."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient

KEY = "a-key-of-some-length"
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
QUIET = settings(
    deadline=None,
    derandomize=True,  # the same requests each time
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def takes_any_text(operation: Any) -> bool:
    """Whether a route cannot be asked wrongly: it takes texts in its path at most.

    To find that out, Hypothesis would draw and drop requests for seconds.
    """
    asks = [*operation.query, *operation.body]
    texts = [{name: value for name, value in part.definition["schema"].items() if name != "title"}
             for part in operation.path_parameters]  # fmt: skip
    return not asks and all(text == {"type": "string"} for text in texts)


@pytest.mark.parametrize(
    "requests",
    [
        pytest.param(2, marks=pytest.mark.timeout(600)),
        pytest.param(100, marks=[pytest.mark.soak, pytest.mark.timeout(3_600)]),
    ],
)
@pytest.mark.parametrize(
    ("keyed", "mode"),  # what is asked wrongly is asked wrongly with a key too
    [(False, GenerationMode.POSITIVE), (False, GenerationMode.NEGATIVE), (True, GenerationMode.POSITIVE)],
    ids=["keyless-positive", "keyless-negative", "keyed-positive"],
)
def test_whatever_is_asked_the_answer_is_one_of_the_documented(
    open_api: Callable[..., TestClient], keyed: bool, mode: GenerationMode, requests: int
) -> None:
    client = open_api(GNOMON_API_KEYS=KEY) if keyed else open_api()
    headers = {"Host": "127.0.0.1:8000"} | ({"Authorization": f"Bearer {KEY}"} if keyed else {})
    schema = schemathesis.openapi.from_asgi("/openapi.json", client.app, headers=headers)
    asked = set()
    for found in schema.get_all_operations():
        operation = found.ok()
        if mode is GenerationMode.NEGATIVE and takes_any_text(operation):
            continue

        @settings(QUIET, max_examples=requests)  # of each route
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case: Case) -> None:
            case.call_and_validate(checks=CHECKS, headers=headers)

        with suppress(Unsatisfiable):  # a route that takes nothing cannot be asked wrongly
            ask()
            asked.add(operation.label)
    assert len(asked) >= (18 if mode is GenerationMode.POSITIVE else 5)
