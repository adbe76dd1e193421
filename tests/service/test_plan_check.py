"""Plans of anyone's are checked over REST and from the command line."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gnomon.core.errors import SpecError
from gnomon_service.cli.main import main
from gnomon_trips.export.plan_check import check_plan
from packages.trips.tests.itinerary.planted_faults import IN_THE_CITY, city

Json = dict[str, Any]
DRAFT: Json = {"days": [{"visits": [{"place": "Kiasma", "arrive": "10:00", "leave": "11:30"}]}]}
REQUEST: Json = {"area": "helsinki", "start_date": "2026-06-11", "places": ["Kiasma"]}
DAYS: list[Json] = [
    {
        "day": 1,
        "current_city": "from Rome to Paris",
        "transportation": "Flight Number: F1, from Rome to Paris",
        "breakfast": "-",
        "attraction": "-",
        "lunch": "-",
        "dinner": "Chez A, Paris",
        "accommodation": "Inn, Paris",
    },
    {
        "day": 2,
        "current_city": "from Paris to Rome",
        "transportation": "Flight Number: F2, from Paris to Rome",
        "breakfast": "Chez B, Paris",
        "attraction": "Louvre, Paris;",
        "lunch": "-",
        "dinner": "-",
        "accommodation": "-",
    },
]


@pytest.fixture(scope="module")
def base() -> tuple[Json, Json]:
    return city()


def states(report: Json) -> dict[str, str]:
    return {check["code"]: check["state"] for check in report["checks"]}


def run(*args: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["itinerary", *args])
    return int(ended.value.code or 0)


def test_a_plan_and_its_request_are_checked_with_evidence(api: TestClient, base: tuple[Json, Json]) -> None:
    plan, request = base
    reply = api.post("/v1/itineraries/check", json={"plan": plan, "request": request})
    assert reply.status_code == 200, reply.text
    report = reply.json()
    assert report["passes"] is True
    assert report["counts"]["fails"] == 0
    assert states(report)["BUDGET"] == "unchecked"
    hours = next(check for check in report["checks"] if check["code"] == "OPEN_HOURS")
    assert any("We-Fr 10:00-20:30" in line for line in hours["evidence"])
    assert report["summary"].endswith("2 could not be checked")
    counted = [check for check in report["checks"] if check["state"] in ("holds", "fails", "unchecked")]
    assert sum(report["counts"].values()) == len(
        [check for check in counted if check["code"] not in ("CITY_RUNS", "LONG_WALK")]
    )


@pytest.mark.parametrize("name", ["a reason with a later closing", "an attribution made up"])
def test_a_fault_fails_with_what_is_so(name: str, api: TestClient, base: tuple[Json, Json]) -> None:
    plan, request = copy.deepcopy(base)
    code, change = IN_THE_CITY[name]
    change(plan, request)
    report = api.post("/v1/itineraries/check", json={"plan": plan, "request": request}).json()
    failing = [check for check in report["checks"] if check["state"] == "fails"]
    assert [check["code"] for check in failing] == [code]
    assert failing[0]["points"][0]["reason"]
    assert report["passes"] is False


def test_without_a_request_what_it_would_ask_is_unchecked(api: TestClient, base: tuple[Json, Json]) -> None:
    report = api.post("/v1/itineraries/check", json={"plan": base[0]}).json()
    told = states(report)
    assert {told[code] for code in ("MUST_VISIT", "BUDGET", "MEAL_WINDOW", "DAY_WINDOW")} == {"unchecked"}
    assert told["OPEN_HOURS"] == told["TRAVEL_TIME"] == told["NIGHT_CONTINUITY"] == "holds"
    assert report["counts"]["fails"] == 0


def test_a_draft_by_names_is_made_whole_and_checked(api: TestClient) -> None:
    report = api.post("/v1/itineraries/check", json={"plan": DRAFT, "request": REQUEST}).json()
    assert report["passes"] is True
    late = copy.deepcopy(DRAFT)
    late["days"][0]["visits"][0].update(arrive="19:30", leave="21:00")
    report = api.post("/v1/itineraries/check", json={"plan": late, "request": REQUEST}).json()
    assert states(report)["OPEN_HOURS"] == "fails"


def test_a_plan_whose_form_is_broken_fails_and_nothing_else_is_called_checked(
    api: TestClient, base: tuple[Json, Json]
) -> None:
    plan, request = copy.deepcopy(base)
    plan["days"][0]["legs"][0]["minutes"] = -4
    report = api.post("/v1/itineraries/check", json={"plan": plan, "request": request}).json()
    assert states(report)["UNITS"] == "fails"
    assert "holds" not in states(report).values()


def test_days_of_travelplanner_are_checked_and_what_needs_its_reference_is_unchecked(api: TestClient) -> None:
    report = api.post("/v1/itineraries/check", json={"plan": DAYS}).json()
    assert report["form"] == "travelplanner"
    assert report["passes"] is True
    assert {"KNOWN_PLACES", "HOURS", "BUDGET", "DAY_COUNT"} <= {
        code for code, state in states(report).items() if state == "unchecked"
    }
    asked = {
        "query": "A 3-day trip with $90",
        "reference_information": {"Paris": ["Chez A", "Inn", "Louvre"]},
    }
    told = states(api.post("/v1/itineraries/check", json={"plan": DAYS, "request": asked}).json())
    assert (told["DAY_COUNT"], told["KNOWN_PLACES"], told["BUDGET"]) == ("fails", "fails", "unchecked")


@pytest.mark.parametrize(
    ("index", "field", "value", "code"),
    [
        (1, "current_city", "Paris", "CITIES"),
        (1, "current_city", "from Lyon to Rome", "CITIES"),
        (0, "transportation", "-", "MOVES"),
        (0, "transportation", "Self-driving, from Rome to Paris", "TRANSPORT"),
        (0, "dinner", "Chez B, Paris", "RESTAURANTS"),
        (0, "dinner", "Chez A, Lyon", "IN_CITY"),
        (0, "accommodation", "-", "BEDS"),
        (0, "day", 7, "COMPLETE"),
    ],
)
def test_a_fault_in_travelplanners_days_is_named(
    index: int, field: str, value: Any, code: str, api: TestClient
) -> None:
    days = copy.deepcopy(DAYS)
    days[index][field] = value
    report = api.post("/v1/itineraries/check", json={"plan": days}).json()
    assert states(report)[code] == "fails"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ([], "body"),
        ({"request": REQUEST}, "body"),
        ({"plan": DRAFT, "colour": "red"}, "body"),
        ({"plan": 7}, "plan"),
        ({"plan": {"weather": "fine"}}, "plan"),
        ({"plan": DRAFT}, "plan"),
        ({"plan": DRAFT, "request": []}, "request"),
        ({"plan": DRAFT, "request": {**REQUEST, "area": "Atlantis"}}, "request"),
        ({"plan": {"days": [{}] * 61}, "request": REQUEST}, "plan.days"),
    ],
)
def test_what_is_no_plan_is_refused_by_its_field(body: Any, field: str, api: TestClient) -> None:
    reply = api.post("/v1/itineraries/check", json=body)
    assert reply.status_code == 422, reply.text
    assert reply.headers["content-type"].startswith("application/problem+json")
    assert reply.json()["field"] == field


def test_the_command_checks_a_plan_and_ends_by_what_it_found(
    tmp_path: Path, base: tuple[Json, Json], capsys: pytest.CaptureFixture[str]
) -> None:
    plan, request = copy.deepcopy(base)
    files = {name: tmp_path / f"{name}.json" for name in ("plan", "request")}
    files["plan"].write_text(json.dumps(plan))
    files["request"].write_text(json.dumps(request))
    assert run("--check", str(files["plan"]), "--request", str(files["request"])) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[0].endswith("2 could not be checked.")
    assert "? BUDGET" in said

    plan["days"][0]["visits"][1]["why"] = "Open until 23:00"
    files["plan"].write_text(json.dumps({"plan": plan, "request": request}))
    assert run("--check", str(files["plan"]), "--json") == 1
    assert states(json.loads(capsys.readouterr().out))["WHY"] == "fails"


@pytest.mark.parametrize(
    "days",
    [5, True, [5], [{"visits": 5}], [{"visits": [5]}]],
)
def test_what_is_no_plan_fails_by_its_form(days: object) -> None:
    checked = check_plan({"days": days}, REQUEST)
    failing = {check.code for check in checked.checks if check.state == "fails"}
    assert "SCHEMA" in failing
    assert failing <= {"SCHEMA", "UNITS"}


@pytest.mark.parametrize("clock", [None, "99:00", "9"])
def test_a_draft_with_a_time_that_is_none_is_refused_with_the_field(clock: object) -> None:
    visit = {"place": "Kiasma", "arrive": clock, "leave": "11:30"}
    with pytest.raises(SpecError, match=r"days\.0\.visits\.0\.arrive") as caught:
        check_plan({"days": [{"visits": [visit]}]}, REQUEST)
    assert caught.value.field == "plan"


@pytest.mark.parametrize(
    "args", [(), ("r.json", "--check", "p.json"), ("--request", "r.json"), ("--check", "none.json")]
)
def test_bad_usage_of_the_check_ends_with_two(
    args: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.json").write_text(json.dumps(REQUEST))
    (tmp_path / "p.json").write_text(json.dumps(DRAFT))
    assert run(*args) == 2


def test_a_file_of_published_plans_is_checked_line_by_line(
    travelplanner_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """TravelPlanner's own functions fail 19 plans for restaurants and 32 for transport; these find more."""
    assert run("--check", str(travelplanner_dir / "example_evaluation.jsonl"), "--json") == 1
    reports = json.loads(capsys.readouterr().out)
    failing = [code for report in reports for code, state in states(report).items() if state == "fails"]
    assert len(reports) == 180
    assert [failing.count(code) for code in ("DELIVERED", "RESTAURANTS", "TRANSPORT", "ATTRACTIONS")] == [
        *(19, 20, 59, 0)
    ]
