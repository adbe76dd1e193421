"""The review desk: blind, kept as people go, exported as the curation reads it, and counted as models are."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gnomon.core.review import Review, ReviewQueue
from gnomon.core.select import Select
from gnomon.exchange.answers import read_answers
from gnomon.media import MediaStore
from gnomon_analyses.pages import review, review_queues
from gnomon_analyses.reviews.decisions import REVIEW_FILE, read_decisions
from gnomon_service.reports import report_of
from tests.web.conftest import PHONE, WIDE, Site, Visit, violations

HOSTILE = '<script>alert(1)</script>"\u202e=1+1'


@pytest.fixture
def queue(site: Site) -> str:
    """A queue of the first four samples, whose answers are one option each."""
    samples = tuple(ref.sample_id for ref in site.store.refs(site.job_id))[:4]
    site.store.create_queue(
        ReviewQueue(name="items", job_id=site.job_id, mode="judge", choice="all", samples=samples)
    )
    return "items"


class Person(httpx.Client):
    """Follows redirects itself: once LiteLLM is loaded, its guard lets httpx follow none in this process."""

    def send(self, request: httpx.Request, **arguments: Any) -> httpx.Response:
        response = super().send(request, **{**arguments, "follow_redirects": False})
        while response.next_request is not None:
            response = super().send(response.next_request, follow_redirects=False)
        return response


@pytest.fixture
def person(site: Site) -> Iterator[Callable[[str], httpx.Client]]:
    """A browser without script, with a name in its cookie."""
    clients: list[httpx.Client] = []

    def of_name(name: str) -> httpx.Client:
        client = Person(base_url=site.url, headers={"Accept": "text/html", "Origin": site.url})
        clients.append(client)
        client.post("/ui/review/name", data={"reviewer": name, "next": "items"})
        return client

    yield of_name
    for client in clients:
        client.close()


def samples_of(site: Site, queue: str) -> tuple[str, ...]:
    return site.store.queue(queue).samples


def truth_of(site: Site, sample_id: str) -> str:
    """The letter of the right option."""
    job = site.store.job(site.job_id)
    benchmark = job.spec.plugin()
    media = MediaStore(site.folder / "media")
    samples = benchmark.open(data=None, select=job.spec.select, protocol=job.spec.protocol, media=media)
    options = benchmark.question_view(samples.get(sample_id)).options  # type: ignore[attr-defined]
    return next(option.letter for option in options if option.right)


def answer(client: httpx.Client, sample_id: str, letter: str, **more: str) -> httpx.Response:
    return client.post("/ui/review/items/answer", data={"sample_id": sample_id, "choice": letter, **more})


def decide(client: httpx.Client, sample_id: str, decision: str, **more: str) -> httpx.Response:
    data = {"sample_id": sample_id, "decision": decision, **more}
    return client.post("/ui/review/items/decision", data=data)


def test_a_queue_is_made_from_a_job_by_a_form(site: Site, person: Callable[[str], httpx.Client]) -> None:
    client = person("ann")
    made = client.post(
        "/ui/review",
        data={"name": "Some, drawn!", "job": site.job_id, "choice": "random", "limit": "5", "seed": "3"},
    )
    assert made.url.path == "/ui/review/some-drawn"
    drawn = site.store.queue("some-drawn")
    every = [ref.sample_id for ref in site.store.refs(site.job_id)]
    assert len(drawn.samples) == 5
    assert list(drawn.samples) == [sample_id for sample_id in every if sample_id in drawn.samples]
    unnamed = client.post("/ui/review", data={"name": "", "job": site.job_id, "choice": "all", "limit": "2"})
    assert unnamed.url.path == "/ui/review/tools-on-small-worlds-all"
    refused = client.post("/ui/review", data={"name": "x", "job": site.job_id, "choice": "random"})
    assert refused.status_code == 422
    assert "how many" in refused.text


def test_samples_that_all_arms_got_wrong_are_those_of_the_rows(
    site: Site, person: Callable[[str], httpx.Client]
) -> None:
    person("ann").post("/ui/review", data={"name": "wrong", "job": site.job_id, "choice": "all_wrong"})
    best: dict[str, float] = {}
    for row in site.store.iter_rows(site.job_id):
        best[row.sample_id] = max(best.get(row.sample_id, 0.0), row.score or 0.0)
    wrong = {sample_id for sample_id, score in best.items() if score < 0.5}
    queues = [item for item in site.store.queues() if item.name == "wrong"]
    assert ({*queues[0].samples} if queues else set()) == wrong


NEAR = {"near": {"pace": {"value": 1.95, "limit": 2.0}}}
ROWS = [{"target": "17", "camera": "gate", "shown_as": "c3", "rows": 1_204, "first": [12.4, 124, 904.1]}]


@pytest.fixture
def doubts(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two samples that the build of the job's data is in doubt about, the most doubtful first."""
    doubtful = [ref.sample_id for ref in site.store.refs(site.job_id)][1::-1]
    (tmp_path / "build").mkdir()
    lines = [json.dumps({"sample_id": sample_id, **NEAR, "rows": ROWS, "more": 1}) for sample_id in doubtful]
    (tmp_path / REVIEW_FILE).write_text("\n".join(lines))
    for module in (review, review_queues):
        monkeypatch.setattr(module, "data_of", lambda *_: tmp_path)
    return doubtful


def test_the_most_doubtful_come_first_and_with_the_truth_come_the_raw_rows(
    site: Site, doubts: list[str], person: Callable[[str], httpx.Client]
) -> None:
    client = person("ann")
    made = client.post("/ui/review", data={"name": "items", "job": site.job_id, "choice": "doubtful"})
    assert list(site.store.queue("items").samples) == doubts
    assert "1,204" not in made.text
    judged = answer(client, doubts[0], "C").text
    for shown in ("pace 1.95 (limit 2)", "gate", "1,204", "12.4, 124.0, 904.1"):
        assert shown in judged


def test_a_job_without_such_samples_makes_no_queue_of_them(
    site: Site, person: Callable[[str], httpx.Client]
) -> None:
    refused = person("ann").post("/ui/review", data={"job": site.job_id, "choice": "doubtful"})
    assert refused.status_code == 422
    assert "the job has no samples near a limit" in refused.text


def test_a_second_reviewer_sees_neither_the_first_decision_nor_the_truth(
    site: Site, queue: str, person: Callable[[str], httpx.Client]
) -> None:
    first, second = person("ann-the-first"), person("bob")
    sample_id = samples_of(site, queue)[0]
    before = {form: second.get(f"/ui/review/items{form}").text for form in ("", ".json", ".md")}
    answer(first, sample_id, "C")
    decide(first, sample_id, "ambiguous", note="unmistakable note")
    view = site.store.job(site.job_id).spec.plugin()
    samples = view.open(
        data=None, select=Select(limit=28), protocol="guarded", media=MediaStore(site.folder / "media")
    )
    truth = view.question_view(samples.get(sample_id)).truth_text  # type: ignore[attr-defined]
    for form, text in before.items():
        after = second.get(f"/ui/review/items{form}").text
        for secret in (
            "ann-the-first",
            "unmistakable note",
            truth,
            "look-truth",
            '"right": "right"',
            "True:",
        ):
            assert secret not in after
            assert secret not in text
        unnumbered = [
            re.sub(r"\d+ by anyone|name=\"began\" value=\"\d+\"", "", page) for page in (text, after)
        ]
        assert unnumbered[0] == unnumbered[1]
    judged = answer(second, sample_id, "C").text
    assert truth in judged
    assert "unmistakable note" not in judged


def test_the_times_of_clips_to_be_ordered_are_not_drawn_before_the_answer(
    site: Site, queue: str, person: Callable[[str], httpx.Client]
) -> None:
    order = next(ref.sample_id for ref in site.store.refs(site.job_id) if ref.cell.endswith("CR"))
    site.store.create_queue(
        ReviewQueue(name="order", job_id=site.job_id, mode="judge", choice="all", samples=(order,))
    )
    client = person("ann")
    page = client.get("/ui/review/order").text
    assert '<svg class="scene' in page
    assert "data-times" not in page
    assert "clock" not in page
    client.post("/ui/review/order/answer", data={"sample_id": order, "none": "1"})
    assert "data-times" in client.get("/ui/review/order").text


def test_an_answer_is_scored_once_and_a_decision_is_kept_and_taken_back(
    site: Site, queue: str, person: Callable[[str], httpx.Client]
) -> None:
    client = person("Ann Ü")
    sample_id = samples_of(site, queue)[0]
    right = truth_of(site, sample_id)
    answer(client, sample_id, right, seconds="12.5")
    answer(client, sample_id, "A" if right != "A" else "B")  # too late: the truth was shown
    [review] = site.store.reviews(queue)
    assert (review.reviewer, review.answer, review.score, review.seconds) == ("Ann Ü", right, 1.0, 12.5)
    refused = decide(client, sample_id, "wrong_truth", note="because")
    assert refused.status_code == 422
    assert "because" in refused.text
    decide(client, sample_id, "wrong_truth", mended="D", note="because")
    assert site.store.reviews(queue)[0].judgement == ("wrong_truth", "d")
    again = client.post("/ui/review/items/undo").text
    [review] = site.store.reviews(queue)
    assert (review.decision, review.answer) == (None, right)
    assert "is this item sound?" in again


def test_skipped_items_come_round_again(
    site: Site, queue: str, person: Callable[[str], httpx.Client]
) -> None:
    client = person("ann")
    order = []
    after = ""
    for _ in range(5):
        after = client.get(f"/ui/review/items.json?after={after}").json()["sample_id"]
        order.append(after)
    assert order == [*samples_of(site, queue), samples_of(site, queue)[0]]


def test_timed_answers_are_given_in_fields_and_scored_by_the_benchmark(
    site: Site, person: Callable[[str], httpx.Client]
) -> None:
    timed = next(ref.sample_id for ref in site.store.refs(site.job_id) if ref.cell.endswith(".TF"))
    site.store.create_queue(
        ReviewQueue(name="timed", job_id=site.job_id, mode="answer", choice="all", samples=(timed,))
    )
    job = site.store.job(site.job_id)
    samples = job.spec.plugin().open(
        data=None, select=job.spec.select, protocol="guarded", media=MediaStore(site.folder / "media")
    )
    sample = samples.get(timed)
    options = job.spec.plugin().question_view(sample).options  # type: ignore[attr-defined]
    letters = [option.letter for option in sorted(options, key=lambda option: option.right) if option.right]
    times = sample.target["case"].correct_time_str
    client = person("ann")
    path, base = "/ui/review/timed/answer", {"sample_id": timed}
    half = client.post(path, data={**base, "part-0": letters[0]})
    assert half.status_code == 422
    assert "Fill in" in half.text
    parts = {"part-0": letters[0], "part-1": letters[1], "part-2": times[0], "part-3": times[1]}
    done = client.post(path, data={**base, **parts})
    assert "all done" in done.text
    [review] = site.store.reviews("timed")
    assert (review.score, review.answer) == (1.0, ", ".join(letters))
    client.post("/ui/review/timed/undo")
    assert site.store.reviews("timed") == []


def test_agreement_is_that_of_a_calculation_by_hand_and_disagreements_are_settled(
    site: Site, queue: str, person: Callable[[str], httpx.Client]
) -> None:
    said = {"ann": ("sound", "sound", "drop", "drop"), "bob": ("sound", "drop", "drop", "drop")}
    for name, decisions in said.items():
        client = person(name)
        for sample_id, decision in zip(samples_of(site, queue), decisions, strict=True):
            answer(client, sample_id, "A")
            decide(client, sample_id, decision, note=HOSTILE)
    shown = httpx.get(f"{site.url}/v1/reviews/items").json()
    # observed 3/4; by chance 1/2 · 1/4 + 1/2 · 3/4 = 1/2
    assert shown["agreement"]["share"] == 0.75
    assert shown["agreement"]["coefficient"] == pytest.approx(0.5)
    assert shown["agreement"]["method"] == "Cohen's kappa"
    assert shown["disagreements"] == [samples_of(site, queue)[1]]
    carol = person("carol")
    page = carol.get("/ui/review/items/disagreements").text
    assert "of 4 judged twice 75.0 % agree (κ 0.50" in page
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    decide(carol, samples_of(site, queue)[1], "drop", settle="1")
    after = httpx.get(f"{site.url}/v1/reviews/items").json()
    assert after["disagreements"] == []
    assert after["agreement"] == shown["agreement"]  # a settlement is not blind


def test_the_export_is_read_by_the_curation(
    site: Site, queue: str, person: Callable[[str], httpx.Client], tmp_path: Path
) -> None:
    client = person("ann")
    decisions = ("sound", "wrong_truth", "ambiguous")
    for sample_id, decision in zip(samples_of(site, queue), decisions, strict=False):
        answer(client, sample_id, "A")
        decide(client, sample_id, decision, mended="B. up", note=HOSTILE)
    file = tmp_path / "decisions.jsonl"
    file.write_bytes(client.get("/ui/review/items/decisions.jsonl").content)
    read = read_decisions(file)
    assert [read[name].decision for name in samples_of(site, queue)] == ["keep", "fix", "drop", None]
    assert read[samples_of(site, queue)[1]].answer == "B. up"
    table = list(csv.DictReader(io.StringIO(client.get("/ui/review/items/decisions.csv").text)))
    assert [line["decision"] for line in table] == list(decisions)
    answers = tmp_path / "answers.jsonl"
    answers.write_bytes(client.get("/ui/review/items/answers.jsonl").content)
    assert {line.model for line in read_answers(answers)} == {"ann"}


def test_people_stand_in_the_report_as_scored_by_hand(
    site: Site, queue: str, person: Callable[[str], httpx.Client]
) -> None:
    address, as_page = f"{site.url}/v1/jobs/{site.job_id}/report", {"Accept": "text/html"}
    assert report_of(site.store, site.job_id)["people"] == []
    assert "<h2>People</h2>" not in httpx.get(address, headers=as_page, timeout=60).text
    client, samples = person("ann"), samples_of(site, queue)
    for sample_id in samples[:3]:
        answer(client, sample_id, "A")
    client.post("/ui/review/items/answer", data={"sample_id": samples[3], "none": "1"})
    right = [float(truth_of(site, sample_id) == "A") for sample_id in samples[:3]]
    report = httpx.get(f"{site.url}/v1/jobs/{site.job_id}/report", timeout=60).json()
    [line] = report["people"]
    assert (line["name"], line["people"], line["answers"], line["n"], line["planned"]) == (
        "people",
        1,
        3,
        3,
        28,
    )
    assert line["mean"] == pytest.approx(sum(right) / 3)
    rows = {(row.sample_id, row.arm): row.score or 0.0 for row in site.store.iter_rows(site.job_id)}
    for arm in line["arms"]:
        scores = [rows[sample_id, arm["arm"]] for sample_id in samples[:3]]
        assert arm["diff"] == pytest.approx((sum(scores) - sum(right)) / 3)
    page = httpx.get(address, headers=as_page, timeout=60).text
    assert "<h2>People</h2>" in page
    assert "on 3 of 28 samples, 3 answers of 1 person" in page


def test_a_post_from_another_site_is_refused(site: Site, queue: str) -> None:
    headers = {"Origin": "http://evil.example", "Cookie": "gnomon_reviewer=ann"}
    sample_id = samples_of(site, queue)[0]
    for path, data in (
        ("/ui/review", {"name": "x", "job": site.job_id}),
        ("/ui/review/name", {"reviewer": "eve"}),
        ("/ui/review/items/answer", {"sample_id": sample_id, "choice": "A"}),
        ("/ui/review/items/decision", {"sample_id": sample_id, "decision": "drop", "settle": "1"}),
        ("/ui/review/items/undo", {}),
    ):
        assert httpx.post(site.url + path, data=data, headers=headers).status_code == 403, path
    assert site.store.reviews(queue) == []
    assert len(site.store.queues()) == 1


def test_without_a_name_nothing_is_shown_or_kept(site: Site, queue: str) -> None:
    view = httpx.get(f"{site.url}/ui/review/items.json").json()
    assert (view["stage"], view["question"]) == ("name", None)
    data = {"sample_id": samples_of(site, queue)[0], "choice": "A"}
    assert httpx.post(f"{site.url}/ui/review/items/answer", data=data).status_code == 303
    assert site.store.reviews(queue) == []


def test_items_are_judged_by_keys_alone(site: Site, queue: str, visit: Callable[..., Visit]) -> None:
    shown = visit(site)
    page = shown.open("/ui/review/items")
    page.fill("#reviewer", "ann")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="what is your answer?").wait_for()
    first, second = samples_of(site, queue)[:2]
    page.wait_for_load_state()  # keys work from then on
    page.keyboard.press("s")
    page.get_by_role("heading", name=f"{second}: what is your answer?").wait_for()
    page.wait_for_load_state()
    page.keyboard.press("2")
    page.keyboard.press("a")
    page.get_by_role("heading", name=f"{second}: is this item sound?").wait_for()
    page.wait_for_load_state()
    page.keyboard.press("3")
    page.get_by_role("heading", name=f"{first}: what is your answer?").wait_for()
    page.wait_for_load_state()
    [review] = site.store.reviews(queue)
    assert (review.sample_id, review.decision, review.answer) == (second, "ambiguous", "B")
    assert review.seconds is not None
    page.keyboard.press("u")
    page.get_by_role("heading", name=f"{second}: is this item sound?").wait_for()
    page.fill("#note", "1 2 3 typed, not pressed")
    assert site.store.reviews(queue)[0].decision is None
    page.locator("h1").click()
    page.keyboard.press("1")
    page.get_by_role("heading", name="what is your answer?").wait_for()
    assert site.store.reviews(queue)[0].decision == "sound"
    assert shown.errors == []


@pytest.mark.parametrize(("size", "dark"), [(WIDE, False), (PHONE, True)], ids=["wide", "phone"])
@pytest.mark.usefixtures("doubts")
def test_every_stage_of_an_item_is_accessible(
    site: Site, queue: str, visit: Callable[..., Visit], size: dict[str, int], dark: bool
) -> None:
    site.store.add_answer(queue, Review(sample_id=samples_of(site, queue)[0], reviewer="bob"))
    shown = visit(site, size=size, dark=dark)
    for name in ("ann", "bob"):  # the one answers, the other judges
        shown.page.context.add_cookies(
            [{"name": "gnomon_reviewer", "value": name, "url": f"{site.url}/ui/review"}]
        )
        page = shown.open("/ui/review/items")
        assert violations(page) == []
        widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert widths[0] <= widths[1]
        assert shown.errors == []


def test_the_views_are_plain_data(site: Site, queue: str, person: Callable[[str], httpx.Client]) -> None:
    client = person("ann")
    for path in ("/ui/review", "/ui/review/items", "/ui/review/items/disagreements"):
        view = client.get(f"{path}.json").json()
        assert view["title"]
        assert json.dumps(view)
        assert client.get(f"{path}.md").text.startswith(f"# {view['title']}")
