"""Comparing jobs: the page's statistics are those of `gnomon diff`, and what cannot be paired says why."""

import io
import random
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient
from playwright.sync_api import Browser
from redis import Redis

from gnomon.core.row import Row
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.trial_plan import expand_trials
from gnomon_analyses.commands.board import board
from gnomon_analyses.comparing.job_diff import DiffedJob, diff_jobs
from gnomon_service.api.app import create_app
from gnomon_service.settings import read_settings
from gnomon_workers.open_job import open_spec
from gnomon_workers.store.missing import missing_row
from gnomon_workers.store.store import Store
from tests.web.conftest import SPEC
from tests.web.planted import scored

HOSTILE = "<img src=x onerror=alert(1)>"
TOOLS_ARM = {"name": "tools", "agent": "react", "tools": "all", "max_tool_calls": 2}
VARIANTS: dict[str, dict[str, Any]] = {
    "before": {},
    "fewer calls": {"arms": [SPEC["arms"][0], TOOLS_ARM], "select": {"limit": 42}, "repeats": 2},  # type: ignore[index]
    HOSTILE: {"protocol": "official"},
    "other models": {"models": [{"id": "reference", "name": "a"}, {"id": "reference", "name": "b"}]},
}


@dataclass(frozen=True)
class Stored:
    """Jobs by name, and the pages over them."""

    client: TestClient
    store: Store
    ids: dict[str, str]
    folder: Path

    def compared(self, *names: str, **query: str) -> dict[str, Any]:
        jobs = ",".join(self.ids[name] for name in names)
        answer = self.client.get("/ui/compare.json", params={"jobs": jobs, **query})
        assert answer.status_code == 200, answer.text
        view: dict[str, Any] = answer.json()
        return view

    def job(self, name: str) -> DiffedJob:
        job = self.store.job(self.ids[name])
        return DiffedJob(job_id=job.id, spec=job.spec, status=job.status, rows=self.store.iter_rows(job.id))


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[Stored]:
    folder = tmp_path_factory.mktemp("compared")
    settings = read_settings({}, data_dir=folder)
    store = Store(settings.database_url)
    ids = {
        name: insert_played(
            store, JobSpec.model_validate({**SPEC, **changes, "name": name}), folder / "media"
        )
        for name, changes in VARIANTS.items()
    }
    app = create_app(settings, store=store, redis=Redis.from_url(redis_url))
    with TestClient(app, base_url="http://localhost") as client:
        yield Stored(client, store, ids, folder)
    store.close()


def insert_played(store: Store, spec: JobSpec, media: Path) -> str:
    """The id of a finished job whose scores are drawn, more of them right with tools."""
    samples = open_spec(spec, MediaStore(media)).samples
    draws = random.Random(spec.name)

    def ended() -> Iterator[tuple[Row, None]]:
        for trial in expand_trials("j", spec, samples.refs):
            is_right = draws.random() < (0.8 if trial.arm == "tools" else 0.3)
            row = missing_row(trial, benchmark="worlds", stop_reason="answered", attempt=1)
            yield scored(row, float(is_right), "A"), None

    return store.insert_finished_job(spec, samples.refs, ended())


def test_statistics_are_those_of_a_difference(stored: Stored) -> None:
    shown = stored.compared("before", "fewer calls")["comparisons"]
    difference = diff_jobs(stored.job("before"), stored.job("fewer calls"))
    contrasts = [row for row in difference["report"]["contrasts"] if row["family"] == "primary"]
    assert len(shown) == len(contrasts) == 2
    for item, contrast in zip(shown, contrasts, strict=True):
        for field in ("diff", "ci95", "n", "clusters", "p_adjusted", "verdict", "test"):
            assert item[field] == contrast[field]  # type: ignore[literal-required]
        assert (item["fixed"], item["regressed"]) == (contrast["rescued"], contrast["broken"])
        assert (item["base_mean"], item["mean"]) == (contrast["baseline_mean"], contrast["variant_mean"])
        assert item["says"] == contrast["verdict_text"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (HOSTILE, "their prompts follow different protocols: guarded and official"),
        ("other models", "the jobs share no model and arm"),
    ],
)
def test_jobs_that_cannot_be_paired_say_why(stored: Stored, name: str, why: str) -> None:
    view = stored.compared("before", name)
    assert view["comparisons"] == []
    assert why in view["not_compared"][0]["why"]
    assert why in view["answer"]


def test_samples_that_changed_are_listed_with_both_trials(stored: Stored) -> None:
    item = next(row for row in stored.compared("before", "fewer calls")["comparisons"] if row["changed"])
    listed = stored.compared("before", "fewer calls", changed=item["job"], group=item["label"])["changed"]
    assert len(listed["samples"]) == item["changed"]
    sizes = [abs(row["difference"]) for row in listed["samples"]]
    assert sizes == sorted(sizes, reverse=True)
    assert min(sizes) > 0
    shown = stored.client.get(listed["samples"][0]["link"])
    assert shown.status_code == 200


def test_names_of_jobs_stay_text(stored: Stored) -> None:
    for path in ("/ui/compare", f"/ui/compare?jobs={stored.ids['before']},{stored.ids[HOSTILE]}"):
        page = stored.client.get(path).text
        assert HOSTILE not in page
        assert "&lt;img src=x" in page


def test_another_job_can_be_the_one_compared_with(stored: Stored) -> None:
    first = stored.compared("before", "fewer calls")["comparisons"]
    turned = stored.compared("before", "fewer calls", base=stored.ids["fewer calls"])["comparisons"]
    for item, other in zip(first, turned, strict=True):
        assert item["diff"] == pytest.approx(-other["diff"])
        assert (item["fixed"], item["regressed"]) == (other["regressed"], other["fixed"])


def test_a_board_ranks_jobs_that_share_the_frozen_part(stored: Stored) -> None:
    view = stored.client.get("/ui/board.json", params={"benchmark": "worlds"}).json()
    entries = view["board"]["entries"]
    assert {entry["job"] for entry in entries} <= set(stored.ids.values())
    assert stored.ids[HOSTILE] not in {entry["job"] for entry in entries}
    means = [entry["mean"] for entry in entries]
    assert means == sorted(means, reverse=True)
    alike = [entry["rank"] for entry in entries if entry["mean"] == means[0]]
    assert len(set(alike)) == 1


def test_an_exported_board_opens_from_a_file_and_asks_for_nothing(
    stored: Stored, browser: Browser, tmp_path: Path
) -> None:
    answer = stored.client.get("/ui/board.zip", params={"benchmark": "worlds"})
    zipfile.ZipFile(io.BytesIO(answer.content)).extractall(tmp_path)
    page = browser.new_page()
    asked: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: message.type == "error" and errors.append(message.text))
    page.goto((tmp_path / "index.html").as_uri())
    page.get_by_role("link", name="before").first.click()
    page.get_by_role("link", name="Report", exact=True).click()
    assert "before" in page.locator("body").inner_text()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert errors == []
    assert "<script" not in (tmp_path / "index.html").read_text()
    page.close()


def test_the_command_line_writes_the_same_board(stored: Stored, tmp_path: Path) -> None:
    folder = str(stored.folder)
    command = ["--benchmark", "worlds", "--out", str(tmp_path), "--data-dir", folder]
    CliRunner().invoke(board, command, catch_exceptions=False)
    archive = zipfile.ZipFile(
        io.BytesIO(stored.client.get("/ui/board.zip", params={"benchmark": "worlds"}).content)
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(archive.namelist())
    assert (tmp_path / "index.html").read_bytes() == archive.read("index.html")
