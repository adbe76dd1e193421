"""The page of a sample: its clip, its grid, and what is shown where the question is gone."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gnomon.core.question_view import QuestionView, ShownClip
from gnomon.core.score import Outcome
from gnomon_service.web import sample
from gnomon_service.web.questions import OpenedQuestion
from gnomon_service.web.trial_views import ShownQuestion
from tests.web.conftest import Site, Visit
from tests.web.planted import fetch, plant, scored

HTML = {"Accept": "text/html"}


@pytest.fixture
def clip_url(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a clip of ten bytes; beside it is a file that no sample names."""
    film = tmp_path / "film.mp4"
    film.write_bytes(b"0123456789")
    (tmp_path / "secret.mp4").write_bytes(b"secret")
    view = QuestionView(question="What happens?", clips=(ShownClip(path=film, caption="film.mp4"),))
    shown = ShownQuestion(opened=OpenedQuestion(problem=""), view=view)
    monkeypatch.setattr(sample, "shown_question", lambda *args: shown)
    return f"{site.url}/ui/jobs/{site.job_id}/samples/w0-00010/clips"


def test_a_clip_is_served_in_parts(clip_url: str) -> None:
    whole = fetch(f"{clip_url}/0")
    assert (whole.status_code, whole.content) == (200, b"0123456789")
    assert whole.headers["content-type"] == "video/mp4"
    part = fetch(f"{clip_url}/0", headers={"Range": "bytes=2-4"})
    assert (part.status_code, part.content) == (206, b"234")
    assert part.headers["content-range"] == "bytes 2-4/10"


@pytest.mark.parametrize("number", ["1", "-1", "..%2Fsecret.mp4", "secret.mp4"])
def test_only_the_clips_that_the_sample_names_are_served(clip_url: str, number: str) -> None:
    answer = fetch(f"{clip_url}/{number}")
    assert answer.status_code in (404, 422)
    assert b"secret" not in answer.content.replace(b"secret.mp4", b"")


def test_the_page_plays_its_clip(clip_url: str, site: Site) -> None:
    page = fetch(f"{site.url}/ui/jobs/{site.job_id}/samples/w0-00010", headers=HTML).text
    assert clip_url.removeprefix(site.url) + "/0" in page
    assert "<video controls" in page


def test_a_question_that_is_gone_is_told_by_a_trace(site: Site, visit: Callable[..., Visit]) -> None:
    trace = {"messages": [{"role": "user", "content": "Which way to the station?"}], "response": "left"}
    job = plant(site, {"gone-1": "x"}, lambda trial, row: scored(row, 1.0, "left"), trace=trace)
    page = visit(site).open(f"/ui/jobs/{job}/samples/gone-1")
    assert "cannot be opened here" in page.locator(".note").inner_text()
    assert page.locator(".cell-link", has_text="left").count() == 2


def test_trials_that_are_missing_or_wait_have_their_place_in_the_grid(site: Site) -> None:
    job = plant(site, {"s": "x"}, lambda trial, row: row if trial.arm == "raw" else None)
    view = fetch(f"{site.url}/ui/jobs/{job}/samples/s.json").json()
    cells = [trial for arm in view["groups"][0]["arms"] for trial in arm["trials"]]
    assert [cell["outcome"] for cell in cells] == [Outcome.INFRA_MISSING.value, "pending"]
    for cell in cells:
        assert fetch(f"{site.url}/ui/trials/{cell['trial_id']}", headers=HTML).status_code == 200


def test_a_sample_that_the_job_does_not_have_is_not_found(site: Site) -> None:
    answer = fetch(f"{site.url}/ui/jobs/{site.job_id}/samples/none", headers=HTML)
    assert answer.status_code == 404
    assert "No sample" in answer.text


def test_the_grid_says_what_the_rows_say(site: Site) -> None:
    view = fetch(f"{site.url}/ui/jobs/{site.job_id}/samples/w0-00010.json").json()
    rows = {row.arm: row for row in site.store.iter_rows(site.job_id) if row.sample_id == "w0-00010"}
    for arm in view["groups"][0]["arms"]:
        (cell,) = arm["trials"]
        row = rows[arm["arm"]]
        assert (cell["score"], cell["answer"], cell["trial_id"]) == (row.score, row.answer, row.trial_id)
    assert (view["around"]["position"], view["around"]["total"]) == (11, 28)


def test_two_ticked_answers_are_compared_without_script(site: Site, visit: Callable[..., Visit]) -> None:
    page = visit(site, script=False).open(f"/ui/jobs/{site.job_id}/samples/w0-00010")
    for box in page.locator("input[name=pick]").all():
        box.check()
    page.get_by_role("button", name="Compare ticked").click()
    assert page.locator("h1").inner_text().startswith("raw and tools")
