"""The trip pages: the list with its form, a trip's page in three forms, its files, and what guards them."""

import datetime as dt
import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gnomon_trips.service.pages import EXAMPLES
from gnomon_workers.store.store import Store
from tests.service.play import finish_all, post
from tests.service.test_itineraries import REQUEST, answer

HERE = {"Origin": "http://127.0.0.1:8000"}
WHOLE = json.dumps(REQUEST)


def submitted(api: TestClient, **fields: str) -> str:
    """The address to which the form leads."""
    reply = api.post("/ui/trips", data=fields or {"request": WHOLE}, headers=HERE, follow_redirects=False)
    assert reply.status_code == 303, reply.text
    return reply.headers["location"]


def finish(store: Store, **changes: Any) -> None:
    """Play the worker for the newest job."""
    fields = {"benchmark": "itinerary", "answer": answer(), **changes}
    finish_all(store, store.jobs(limit=1).items[0].id, **fields)


def test_without_trips_the_list_says_what_belongs_there_and_offers_the_form(api: TestClient) -> None:
    page = api.get("/ui/trips").text
    assert "No trip was planned yet." in page
    assert "POST /v1/itineraries" in page
    assert page.count('<form method="post" action="/ui/trips"') == 2
    assert json.dumps(EXAMPLES["helsinki"], indent=2, ensure_ascii=False) in unescape(page)
    assert "helsinki-monday" in api.get("/ui/trips?example=impossible").text
    assert api.get("/ui/trips?example=nothing").status_code == 200


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_form_s_examples_are_those_of_the_folder(name: str) -> None:
    folder = Path(__file__).parents[2] / "examples" / "itineraries"
    assert json.loads((folder / f"{name}.json").read_text()) == EXAMPLES[name]


def test_a_request_is_planned_in_the_background_and_its_page_shows_the_plan(
    api: TestClient, store: Store
) -> None:
    address = submitted(api)
    (job,) = store.jobs().items
    planning = api.get(address)
    assert "This trip is being planned; its job is queued." in planning.text
    assert f'data-live="/v1/jobs/{job.id}/events' in planning.text
    assert api.get(f"{address}.json").json()["is_open"] is True
    assert [item["id"] for item in api.get("/ui/trips.json").json()["planning"]] == [address.split("/")[-1]]

    finish(store)
    page = api.get(address)
    assert page.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    assert "1 day in Helsinki: all" in page.text
    assert 'id="stop-1-2"' in page.text
    assert "data-live" not in page.text
    assert "style=" not in page.text
    listed = api.get("/ui/trips.json").json()
    assert (listed["planning"], listed["next_cursor"]) == ([], None)
    (line,) = listed["trips"]
    assert (line["id"], line["title"], line["verdict"]) == (
        address.split("/")[-1],
        "Helsinki, 1 day",
        "every check holds",
    )
    assert api.get(f"/v1/itineraries/{job.id}").json()["verification"]["passes"] is True


def test_the_fields_of_the_small_form_are_a_request(api: TestClient, store: Store) -> None:
    places = " Kiasma  14:00\n\nAteneum \n"
    times = {"latest_start": "2026-06-14", "start": "18:00", "end": "02:00"}
    submitted(api, area="helsinki", start_date="2026-06-11", days="2", hotel=" ", places=places, **times)
    assert store.jobs().items[0].spec.select.request == {
        "area": "helsinki",
        "start_date": "2026-06-11",
        "latest_start": "2026-06-14",
        "days": 2,
        "window": {"start": "18:00", "end": "02:00"},
        "places": ["Kiasma", "Ateneum"],
        "fixed": [{"place": "Kiasma", "start": "14:00"}],
    }


@pytest.mark.parametrize(
    ("fields", "field", "word"),
    [
        ({"request": "{nope"}, "request", "not valid JSON"),
        ({"request": "[]"}, "request", "must be one JSON object"),
        ({"request": "[" * 100_000}, "request", "not valid JSON"),
        ({"request": json.dumps({**REQUEST, "model": 7})}, "request", "must be a model"),
        ({"area": "helsinki", "start_date": "2026-06-11", "days": "99", "places": "Kiasma"}, "days", "14"),
        ({"area": "helsinki", "start_date": "soon", "places": "Kiasma"}, "start_date", "date"),
        ({"area": "helsinki", "start_date": "2026-06-11", "places": ""}, "places", "none is named"),
        (
            {"area": "helsinki", "start_date": "2026-06-11", "end": "08:00", "places": "Kiasma"},
            "end",
            "06:00 is the latest",
        ),
        (
            {
                "area": "helsinki",
                "start_date": "2026-06-11",
                "latest_start": "2026-06-01",
                "places": "Kiasma",
            },
            "latest_start",
            "0 to 31",
        ),
        (
            {"area": "helsinki", "start_date": "2026-06-11", "places": "Kiasma 25:00"},
            "places",
            "fixed.0.start",
        ),
        ({"area": "Atlantis", "start_date": "2026-06-11", "places": "Kiasma"}, "area", "there are: helsinki"),
    ],
)
def test_a_fault_is_shown_at_its_field_and_what_was_written_stays(
    api: TestClient, store: Store, fields: dict[str, str], field: str, word: str
) -> None:
    reply = api.post("/ui/trips", data=fields, headers=HERE)
    assert reply.status_code == 422
    assert store.jobs().items == ()
    page = unescape(reply.text)
    fault = page.split(f'id="{field}-error">')[1].split("</span>")[0]
    assert word in fault
    assert f'aria-describedby="{field}-error"' in page
    assert fields[field] in page


@pytest.mark.parametrize("headers", [{}, {"Origin": "http://evil.example"}, {"Origin": "null"}])
def test_a_form_of_another_site_plans_nothing(api: TestClient, store: Store, headers: dict[str, str]) -> None:
    assert api.post("/ui/trips", data={"request": WHOLE}, headers=headers).status_code == 403
    assert store.jobs().items == ()


def test_with_keys_only_who_may_run_can_plan_and_who_has_none_is_sent_to_sign_in(
    open_api: Callable[..., TestClient],
) -> None:
    api = open_api(GNOMON_API_KEYS="a-key-that-runs-1234,read a-key-that-reads-123")
    for key, status in (("a-key-that-runs-1234", 303), ("a-key-that-reads-123", 403)):
        reply = api.post(
            "/ui/trips",
            data={"request": WHOLE},
            headers={**HERE, "Cookie": f"gnomon_key={key}"},
            follow_redirects=False,
        )
        assert reply.status_code == status, reply.text
    reply = api.get("/ui/trips", headers={"Accept": "text/html"}, follow_redirects=False)
    assert (reply.status_code, reply.headers["location"]) == (303, "/ui/sign-in?next=/ui/trips")


def test_a_trip_has_twins_and_files(api: TestClient, store: Store) -> None:
    address = submitted(api)
    assert api.get(f"{address}/trip.ics").status_code == 404
    finish(store)
    view = api.get(f"{address}.json").json()
    assert [row["kind"] for row in view["days"][0]["rows"]] == [
        *("start", "leg", "stop", "leg", "stop", "leg", "end")
    ]
    assert sum(len(group["rows"]) for group in view["checks"]) == 42
    assert "_body" not in view
    assert "It is open during the whole stay" in api.get(f"{address}.md").text
    words = {
        "ics": "BEGIN:VCALENDAR",
        "geojson": "FeatureCollection",
        "json": '"plan"',
        "html": "<!doctype html>",
    }
    assert {href.rsplit(".", 1)[1] for href in view["downloads"].values()} == set(words)
    for href in view["downloads"].values():
        reply = api.get(href)
        assert words[href.rsplit(".", 1)[1]] in reply.text
        assert reply.headers["content-disposition"].startswith("attachment")
    assert api.get(f"{address}/trip.exe").status_code == 404


def test_a_refusal_is_proven_by_the_row_s_metrics(api: TestClient, store: Store) -> None:
    plan = {"request_id": "r", "status": "refused", "conflict": ["hours:Kiasma"]}
    refused = json.dumps({"plan": plan, "violations": [], "request": REQUEST})
    address = submitted(api)
    finish(store, answer=refused, metrics={"conflict_proven": 1.0})
    view = api.get(f"{address}.json").json()
    assert view["answer"] == "No plan for Helsinki: the trip is refused, and it is proven that there is none."
    assert view["conflict"] == ["the opening hours of Kiasma"]
    assert set(view["downloads"]) == {"Plan and checks (json)", "Page (html)"}
    assert api.get("/ui/trips.json").json()["trips"][0]["verdict"] == "refused, proven"


def test_a_trial_without_a_plan_says_why_and_is_not_in_the_list(api: TestClient, store: Store) -> None:
    address = submitted(api)
    finish(store, answer=None, score=0.0, stop_reason="no_answer")
    page = api.get(address)
    assert "No plan was made: no_answer." in page.text
    assert 'href="/ui/trials/' in page.text
    assert api.get("/ui/trips.json").json()["trips"] == []


def test_a_job_that_was_cancelled_made_no_plan(api: TestClient, store: Store) -> None:
    address = submitted(api)
    store.cancel(store.jobs().items[0].id)
    assert "No plan was made" in api.get(address).text
    assert api.get("/ui/trips.json").json()["planning"] == []


def test_names_in_a_stored_plan_stay_text(api: TestClient, store: Store) -> None:
    evil = "<script>alert(1)</script>"
    stored = json.loads(answer())
    stored["plan"]["days"][0]["visits"][0]["place"]["name"] = evil
    stored["request"]["area"] = evil
    stored["plan"]["request_id"] = evil
    address = submitted(api)
    finish(store, answer=json.dumps(stored))
    for path in (address, "/ui/trips"):
        text = api.get(path).text
        assert "<script>alert" not in text
        assert "&lt;script&gt;" in text.lower()


def test_what_is_no_trip_is_not_found(api: TestClient, store: Store) -> None:
    job_id = post(api)
    finish_all(store, job_id)
    other = next(store.iter_rows(job_id)).trial_id
    for trial in (other, "t_nothing"):
        assert api.get(f"/ui/trips/{trial}").status_code == 404
        assert api.get(f"/ui/trips/{trial}/trip.json").status_code == 404
    assert api.get("/ui/trips.json").json()["trips"] == []


def test_trips_are_listed_page_by_page_each_once_the_newest_first(
    api: TestClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnomon_trips.service.pages.PER_PAGE", 3)
    spec = {
        "benchmark": "itinerary",
        "select": {"limit": 6},
        "models": [{"id": "reference"}],
        "arms": [{"name": "raw", "agent": "direct"}],
    }
    many = post(api, spec)
    finish(store)
    latest = [submitted(api).split("/")[-1]]
    finish(store)
    pages, cursor = [], ""
    while cursor is not None:
        view = api.get(f"/ui/trips.json{cursor and f'?cursor={cursor}'}").json()
        pages.append([item["id"] for item in view["trips"]])
        cursor = view["next_cursor"]
    plans = [row.trial_id for row in store.iter_rows(many) if row.task not in ("rail-trip", "graph")]
    assert [trip for ids in pages for trip in ids] == [*latest, *reversed(plans)]
    assert [len(ids) for ids in pages] == [3, 2]


@pytest.mark.parametrize("cursor", ["x", "1.", "1.x", "-1", ".", "1.2.3"])
def test_a_cursor_that_is_none_is_refused(api: TestClient, cursor: str) -> None:
    assert api.get(f"/ui/trips.json?cursor={cursor}").status_code == 422


def test_the_form_begins_with_a_day_that_is_not_past(api: TestClient) -> None:
    [day] = re.findall(r'name="start_date" type="date" value="([^"]+)"', api.get("/ui/trips").text)
    assert dt.date.fromisoformat(day) >= dt.datetime.now(tz=dt.UTC).date()
    assert dt.date.fromisoformat(day).weekday() == dt.date(2026, 6, 11).weekday()
