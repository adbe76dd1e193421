"""Result rows, reports, events and single trials over REST."""

import csv
import io
import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from gnomon.core.row import COLUMNS
from gnomon.core.score import Outcome
from gnomon_workers.store.store import Store
from tests.service.play import finish_all, post


@pytest.fixture
def job_id(api: TestClient, store: Store) -> str:
    job_id = post(api)
    assert finish_all(store, job_id, answer="=cmd|' /C calc'!A0", flags=("+flag", "two,\nlines")) == 12
    return job_id


def rows_as(api: TestClient, path: str, kind: str) -> Any:
    response = api.get(path, headers={"Accept": kind})
    assert response.status_code == 200
    assert response.headers["content-type"].startswith(kind)
    assert response.headers["x-content-type-options"] == "nosniff"
    return response


def test_rows_come_in_pages_and_every_row_once(api: TestClient, job_id: str) -> None:
    path, seen = f"/v1/jobs/{job_id}/trials?limit=5", []
    page = api.get(path).json()
    while True:
        seen += [row["trial_id"] for row in page["items"]]
        if page["next_cursor"] is None:
            break
        page = api.get(f"{path}&cursor={page['next_cursor']}").json()
    assert len(seen) == len(set(seen)) == 12
    assert set(page["items"][0]) == set(COLUMNS)


def test_ndjson_and_csv_hold_all_rows_without_a_limit(api: TestClient, job_id: str) -> None:
    path = f"/v1/jobs/{job_id}/trials"
    lines = rows_as(api, path, "application/x-ndjson").text.splitlines()
    table = list(csv.DictReader(io.StringIO(rows_as(api, path, "text/csv").text, newline="")))
    assert len(lines) == len(table) == 12
    assert [json.loads(line)["trial_id"] for line in lines] == [row["trial_id"] for row in table]


def test_a_page_of_csv_names_the_next_in_its_link(api: TestClient, job_id: str) -> None:
    first = rows_as(api, f"/v1/jobs/{job_id}/trials?limit=9&arm=raw", "text/csv")
    assert "link" not in first.headers
    first = rows_as(api, f"/v1/jobs/{job_id}/trials?limit=4&arm=raw", "text/csv")
    link = first.headers["link"].removeprefix("<").partition(">")[0]
    rest = rows_as(api, link, "text/csv")
    assert len(first.text.splitlines()) + len(rest.text.splitlines()) > 6
    assert "link" not in rest.headers
    assert {row["arm"] for row in csv.DictReader(io.StringIO(rest.text, newline=""))} == {"raw"}


def test_no_cell_of_a_csv_is_a_formula(api: TestClient, job_id: str) -> None:
    text = rows_as(api, f"/v1/jobs/{job_id}/trials", "text/csv").text
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    assert any("calc" in cell for cell in cells)
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


@pytest.mark.parametrize(
    ("query", "count"),
    [("arm=raw", 6), ("arm=none", 0), ("model=reference", 12), ("task=GeoLocation", None),
     ("outcome=scored", 12),
     ("outcome=infra_missing", 0)],
)  # fmt: skip
def test_rows_are_filtered(api: TestClient, job_id: str, query: str, count: int | None) -> None:
    items = api.get(f"/v1/jobs/{job_id}/trials?{query}").json()["items"]
    name, _, value = query.partition("=")
    assert all(item[name] == value for item in items)
    assert count is None or len(items) == count


@pytest.mark.parametrize(
    ("query", "field"), [("limit=0", "limit"), ("outcome=lucky", "outcome"), ("cursor=-1", "cursor")]
)
def test_a_bad_filter_is_named(api: TestClient, job_id: str, query: str, field: str) -> None:
    response = api.get(f"/v1/jobs/{job_id}/trials?{query}")
    assert (response.status_code, response.json()["field"]) == (422, field)


def test_a_format_there_is_not_is_406(api: TestClient, job_id: str) -> None:
    for path in ("trials", "report"):
        response = api.get(f"/v1/jobs/{job_id}/{path}", headers={"Accept": "image/png"})
        assert response.status_code == 406
        assert "application/json" in response.json()["detail"]


def test_a_trial_has_its_row_and_its_trace(api: TestClient, job_id: str) -> None:
    row = api.get(f"/v1/jobs/{job_id}/trials?limit=1").json()["items"][0]
    trial = api.get(f"/v1/trials/{row['trial_id']}").json()
    assert trial["row"] == row
    assert trial["sample_id"] == row["sample_id"]
    assert trial["trace"]["steps"][0]["text"] == "played"


def test_a_trial_that_waits_has_no_row(api: TestClient, store: Store) -> None:
    (lease, *_) = store.lease(post(api), 0, worker="test", ttl_s=60.0)
    trial = api.get(f"/v1/trials/{lease.trial.trial_id}").json()
    assert (trial["state"], trial["row"], trial["trace"]) == ("leased", None, None)


def test_the_report_is_json_or_a_page_that_can_load_nothing(api: TestClient, job_id: str) -> None:
    report = api.get(f"/v1/jobs/{job_id}/report").json()
    assert {arm["arm"] for arm in report["arms"]} == {"raw", "tools"}
    assert report["contrasts"]
    page = rows_as(api, f"/v1/jobs/{job_id}/report", "text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "<html" in page.text


def test_a_report_can_be_had_before_any_trial_ended(api: TestClient) -> None:
    report = api.get(f"/v1/jobs/{post(api)}/report").json()
    assert all(arm["n"] == 0 for arm in report["arms"])


def events_of(text: str) -> list[tuple[str, str, dict[str, Any]]]:
    """(event, id, data) of each event in a stream."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            found.append((fields["event"], fields.get("id", ""), json.loads(fields["data"])))
    return found


def test_events_tell_each_trial_once_and_end_with_the_job(api: TestClient, job_id: str) -> None:
    response = api.get(f"/v1/jobs/{job_id}/events")
    assert response.headers["content-type"].startswith("text/event-stream")
    events = events_of(response.text)
    trials = [data["trial_id"] for name, _, data in events if name == "trial"]
    assert len(trials) == len(set(trials)) == 12
    assert [name for name, _, _ in events][-1] == "done"
    assert events[-1][2]["status"] == "completed"
    assert any(name == "progress" and data["counts"]["scored"] == 12 for name, _, data in events)


def test_events_go_on_behind_the_last_one_seen(api: TestClient, job_id: str) -> None:
    trials = [event for event in events_of(api.get(f"/v1/jobs/{job_id}/events").text) if event[0] == "trial"]
    seen = trials[7][1]
    for again in (
        api.get(f"/v1/jobs/{job_id}/events", headers={"Last-Event-ID": seen}),
        api.get(f"/v1/jobs/{job_id}/events?cursor={seen}"),
    ):
        later = [event for event in events_of(again.text) if event[0] == "trial"]
        assert later == trials[8:]
    bad = api.get(f"/v1/jobs/{job_id}/events?cursor=x")
    assert (bad.status_code, bad.json()["field"]) == (422, "cursor")


def test_events_of_a_job_with_missing_trials_count_them(api: TestClient, store: Store) -> None:
    job_id = post(api)
    finish_all(store, job_id, outcome=Outcome.INFRA_MISSING, score=None, stop_reason="provider:timeout")
    done = events_of(api.get(f"/v1/jobs/{job_id}/events").text)[-1][2]
    assert done["counts"]["infra_missing"] == 12


@pytest.mark.parametrize("query", ["arm=raw", "model=none", "outcome=scored&arm=tools", "task=none", "arm=a"])
def test_rows_of_a_filter_are_the_same_found_in_the_index_or_not(
    api: TestClient, store: Store, query: str
) -> None:
    job_id = post(api)
    finish_all(store, job_id)
    path = f"/v1/jobs/{job_id}/trials?{query}"

    def pages() -> list[Any]:
        answers, cursor = [], "0"
        while cursor is not None:
            answers.append(api.get(f"{path}&limit=2&cursor={cursor}").json())
            cursor = answers[-1]["next_cursor"]
        return [*answers, rows_as(api, path, "application/x-ndjson").text]

    plain = pages()
    api.app.state.gnomon.indexes.get(job_id)  # type: ignore[attr-defined]
    assert pages() == plain
