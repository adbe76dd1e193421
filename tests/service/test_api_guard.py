"""Keys, host names and body sizes: who is let in."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.service.play import SPEC, OpenApi, post

KEY = "a-key-of-some-length"
OPEN = ("/healthz", "/readyz", "/openapi.json", "/docs")


@pytest.fixture
def keyed(open_api: OpenApi) -> TestClient:
    return open_api(GNOMON_API_KEYS=f"{KEY},another-key-of-length")


def routes(api: TestClient) -> list[tuple[str, str]]:
    """Every (verb, path) the API documents."""
    paths = api.get("/openapi.json").json()["paths"]
    return [(verb, path) for path, verbs in paths.items() for verb in verbs]


def is_refused(response: Any) -> bool:
    told = response.headers.get("www-authenticate"), response.json().get("title")
    return response.status_code == 401 and told == ("Bearer", "Unauthorized")


def test_every_route_but_the_open_ones_wants_a_key(keyed: TestClient) -> None:
    asked = [(verb, path) for verb, path in routes(keyed) if path not in OPEN]
    assert len(asked) >= 14
    for verb, path in asked:
        assert is_refused(keyed.request(verb, path)), f"{verb} {path}"


@pytest.mark.parametrize(
    "header",
    ["", KEY, "Bearer", "Bearer ", "Bearer wrong", f"Basic {KEY}", f"Bearer {KEY}x", f"Bearer {KEY[:-1]}"],
)
def test_what_is_not_quite_a_key_is_none(keyed: TestClient, header: str) -> None:
    assert is_refused(keyed.get("/v1/jobs", headers={"Authorization": header}))


@pytest.mark.parametrize("key", [KEY, "another-key-of-length"])
def test_each_of_two_keys_opens(keyed: TestClient, key: str) -> None:
    keyed.headers["Authorization"] = f"Bearer {key}"
    assert keyed.get(f"/v1/jobs/{post(keyed)}").status_code == 200


def test_a_key_that_may_read_starts_nothing(open_api: OpenApi) -> None:
    reader = open_api(GNOMON_API_KEYS=f"read {KEY}")
    reader.headers["Authorization"] = f"Bearer {KEY}"
    for verb, path in routes(reader):
        refused = reader.request(verb, path.replace("{", "").replace("}", "")).status_code == 403
        assert refused == (verb in ("post", "delete")), f"{verb} {path}"


def test_a_caller_that_asks_too_fast_is_told_when_to_come_back(open_api: OpenApi) -> None:
    api = open_api(GNOMON_API_KEYS=f"{KEY},another-key-of-length", GNOMON_MAX_REQUESTS_PER_MINUTE="2")
    asked = [api.get("/v1/jobs", headers={"Authorization": f"Bearer {KEY}"}) for _ in range(3)]
    assert [answer.status_code for answer in asked] == [200, 200, 429]
    assert 1 <= int(asked[2].headers["retry-after"]) <= 30
    assert asked[2].json()["status"] == 429
    other = api.get("/v1/jobs", headers={"Authorization": "Bearer another-key-of-length"})
    assert other.status_code == 200


@pytest.mark.parametrize("path", OPEN)
def test_health_and_documentation_need_no_key(keyed: TestClient, path: str) -> None:
    assert keyed.get(path).status_code == 200


def test_with_keys_models_need_the_operators_word(open_api: OpenApi) -> None:
    api = open_api(GNOMON_API_KEYS=KEY, GNOMON_ALLOWED_API_BASES="openai=OPENAI_API_KEY")
    api.headers["Authorization"] = f"Bearer {KEY}"
    for model, field in (
        ({"id": "openai/x", "api_key_env": "AWS_SECRET_ACCESS_KEY"}, "models.0.api_key_env"),
        ({"id": "other/x"}, "models.0.id"),
        ({"id": "openai/x", "api_base": "http://127.0.0.1:1"}, "models.0.api_base"),
    ):
        response = api.post("/v1/jobs", json={**SPEC, "models": [model]})
        assert (response.status_code, response.json()["field"]) == (422, field)
    post(api, {**SPEC, "models": [{"id": "openai/x", "api_key_env": "OPENAI_API_KEY"}]})


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "a@b", "/x", "[::1"]
)
def test_without_keys_only_loopback_names_are_answered(api: TestClient, host: str) -> None:
    response = api.get("/v1/jobs", headers={"Host": host})
    assert response.status_code == 403
    assert response.json()["field"] == "Host"


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:1", "[::1]:8000"])
def test_loopback_names_are_answered(api: TestClient, host: str) -> None:
    assert api.get("/v1/jobs", headers={"Host": host}).status_code == 200


def test_without_keys_a_foreign_page_is_refused(api: TestClient) -> None:
    response = api.get("/v1/jobs", headers={"Origin": "https://evil.example"})
    assert (response.status_code, response.json()["field"]) == (403, "Origin")
    assert api.get("/v1/jobs", headers={"Origin": "null"}).status_code == 403
    for origin in ("http://localhost:8000", "http://127.0.0.1:3000", "https://127.0.0.1:8000"):
        assert api.get("/v1/jobs", headers={"Origin": origin}).status_code == 403
    assert api.get("/v1/jobs", headers={"Origin": "http://127.0.0.1:8000"}).status_code == 200


def test_without_keys_a_foreign_page_may_link_here_but_not_load_from_here(api: TestClient) -> None:
    for site in ("cross-site", "same-site"):
        loaded = api.get("/v1/jobs", headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"})
        assert (loaded.status_code, loaded.json()["field"]) == (403, "Sec-Fetch-Site")
        linked = api.get("/v1/jobs", headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"})
        assert linked.status_code == 200


def test_a_body_past_the_limit_is_413_whether_it_says_so_or_not(api: TestClient) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(12):
            yield b" " * 100_000

    headers = {"Content-Type": "application/json"}
    for content in (b" " * 1_000_001, pieces()):
        response = api.post("/v1/jobs", content=content, headers=headers)
        assert response.status_code == 413
        assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("coding", ["gzip", "zstd", "identity, br"])
def test_a_packed_body_is_refused_unread(api: TestClient, coding: str) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": coding}
    response = api.post("/v1/jobs", content=b"{}", headers=headers)
    assert (response.status_code, response.json()["field"]) == (415, "body")
