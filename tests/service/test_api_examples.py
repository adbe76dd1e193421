"""What the page of the API shows can be pasted: bodies are accepted, lines for curl name routes."""

import html
import json
import re
import shlex
from typing import Any

import pytest
from starlette.testclient import TestClient

from gnomon_service.api.examples import BODIES, RESPONSES, TOOL
from gnomon_workers.store.store import Store
from tests.service.play import OpenApi, finish_all, post

WORKERS = "GET /v1/workers"  # a plain list; there are none here
STEPS = [
    {"kind": "reply", "text": ""},
    {"kind": "tool", "name": TOOL, "arguments": "{}", "observation": ""},
]
HOST = "127.0.0.1:8000"


def filled(path: str, api: TestClient, store: Store) -> str:
    """The path with the ids of a job, and of a trial whose second step is a tool's."""
    job_id = post(api)
    finish_all(store, job_id, steps=STEPS)
    trial_id = next(store.iter_rows(job_id)).trial_id
    return path.replace("{job_id}", job_id).replace("{trial_id}", trial_id).replace("{name}", TOOL)


@pytest.mark.parametrize("name", list(BODIES))
def test_a_documented_body_is_accepted(name: str, api: TestClient, store: Store) -> None:
    verb, _, path = name.partition(" ")
    response = api.request(verb, filled(path, api, store), json=BODIES[name])
    assert response.status_code in (200, 202), response.text
    if name in RESPONSES:
        assert set(RESPONSES[name]) <= set(response.json())


@pytest.mark.parametrize("name", [name for name in RESPONSES if name not in BODIES and name != WORKERS])
def test_a_documented_response_has_fields_that_there_are(name: str, api: TestClient, store: Store) -> None:
    verb, _, path = name.partition(" ")
    answer: Any = api.request(verb, filled(path, api, store)).json()
    example = RESPONSES[name]
    assert set(example) - {"sample_id", "outcome", "score"} <= set(answer)
    if "items" in example:
        assert set(example["items"][0]) <= set(answer["items"][0])


def lines_of(page: str) -> list[str]:
    return [
        html.unescape(line) for line in re.findall(r'<pre class="curl">(.*?)</pre>', page, flags=re.DOTALL)
    ]


def test_every_route_has_a_line_for_curl_that_names_it(api: TestClient) -> None:
    routes = {
        (verb.upper(), path)
        for path, verbs in api.get("/openapi.json").json()["paths"].items()
        for verb in verbs
    }
    named = set()
    for line in lines_of(api.get("/docs").text):
        words = shlex.split(line)
        assert words[:2] == ["curl", "-s"]
        body = words[words.index("-d") + 1] if "-d" in words else None
        written = words[words.index("-X") + 1] if "-X" in words else "GET"
        verb = "POST" if body is not None else written
        [address] = [word for word in words if word.startswith(HOST)]
        path = address.removeprefix(HOST).replace("$JOB", "{job_id}").replace("$TRIAL", "{trial_id}")
        named.add((verb, path.replace(TOOL, "{name}")))
        if body is not None:
            assert json.loads(body) in BODIES.values()
    assert named == routes


def test_posting_a_job_comes_first_and_the_fields_of_a_spec_have_types_and_defaults(api: TestClient) -> None:
    page = api.get("/docs").text
    headings = re.findall(r"<h3><b>(\w+)</b> (\S+)</h3>", page)
    assert headings[0] == ("POST", "/v1/jobs")
    assert re.search(r"<td>repeats</td><td>integer from 1 to 1000</td><td>1</td>", page)
    assert re.search(r"<td>benchmark</td><td>string</td><td>required</td>", page)
    assert 'id="JobSpec"' in page


def test_lines_for_curl_carry_a_key_where_one_is_needed(open_api: OpenApi) -> None:
    keyed = open_api(GNOMON_API_KEYS="a-key-that-is-long-enough-to-be-one")
    lines = lines_of(keyed.get("/docs").text)
    assert all(("Bearer $GNOMON_API_KEY" in line) == (f"{HOST}/v1" in line) for line in lines)


def test_the_openapi_document_lists_the_formats_of_an_export(api: TestClient) -> None:
    route = api.get("/openapi.json").json()["paths"]["/v1/jobs/{job_id}/export"]["get"]
    [formats] = [each["schema"]["enum"] for each in route["parameters"] if each["name"] == "format"]
    assert {"rows", "inspect", "atif", "plans"} <= set(formats)
    assert "lm-eval" not in formats  # which is read only


def test_examples_are_in_the_openapi_document(api: TestClient) -> None:
    post_job = api.get("/openapi.json").json()["paths"]["/v1/jobs"]["post"]
    assert set(post_job["requestBody"]["content"]) == {"application/json", "application/yaml"}
    assert post_job["requestBody"]["content"]["application/json"]["example"] == BODIES["POST /v1/jobs"]
    assert post_job["responses"]["202"]["content"]["application/json"]["example"]
