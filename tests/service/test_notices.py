"""Notices: what becomes of jobs is told once, signed, and until it was taken."""

import base64
import hashlib
import hmac
import json
import logging
import re
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from redis import Redis
from sqlalchemy import update
from starlette.testclient import TestClient

from gnomon.core.errors import SpecError
from gnomon.core.reply_state import ReplyState
from gnomon.core.row import REPEATED_CALLS
from gnomon.media import MediaStore
from gnomon_service.notifier import Notifier
from gnomon_service.webhooks import AGAIN_S, read_webhooks
from gnomon_workers.durations import CALL, KEY, QUEUE, TRIAL, Durations
from gnomon_workers.logs import JOBS
from gnomon_workers.store.schema import jobs, notices
from gnomon_workers.store.store import Store
from tests.service.play import SPEC, OpenApi, finish_all, post, row_of
from tests.workers.conftest import wait_until

SECRET = "whsec_" + base64.b64encode(b"sixteen and more characters").decode()


class Receiver(HTTPServer):
    """Keeps what it is sent, and answers with the statuses that it is given, then with 204."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.taken: list[tuple[dict[str, str], bytes]] = []
        self.statuses: list[int] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook/secret-path"

    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.taken]


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.taken.append(({name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else 204)
        self.send_header("Location", self.server.url)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def notifier_of(api: TestClient) -> Notifier:
    return Notifier(api.app.state.gnomon)  # type: ignore[attr-defined]


def due_now(store: Store) -> None:
    """Let what waits for its next attempt be due."""
    with store.writing() as db:
        db.execute(update(notices).where(notices.c.next_at.is_not(None)).values(next_at=0.0))


def test_the_end_of_a_job_is_told_once_and_signed(
    open_api: OpenApi, store: Store, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", JOBS)
    slack = f"slack:{receiver.url}/slack"
    api = open_api(GNOMON_WEBHOOKS=f"{receiver.url} {slack}", GNOMON_WEBHOOK_SECRET=SECRET)
    first, second = notifier_of(api), notifier_of(api)
    job_id = post(api)
    first.turn()
    assert receiver.taken == []
    finish_all(store, job_id, usd=0.25)
    for notifier in (first, second, first):
        notifier.turn()
    (headers, body), (_, slack_body) = receiver.taken
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    digest = hmac.new(b"sixteen and more characters", signed, hashlib.sha256).digest()
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"
    told = json.loads(body)
    assert (told["type"], told["data"]["job"]["id"], told["data"]["job"]["status"]) == (
        "job.ended",
        job_id,
        "completed",
    )
    [line] = [line for line in caplog.messages if "completed" in line]
    assert re.fullmatch(
        rf"job {job_id} \(.*\) completed: 12 of 12 trials have a result, 0 missing, \$3.00, \d+ s", line
    )
    assert json.loads(slack_body) == {"text": line}
    store.resume(job_id)  # harmless: nothing is missing
    first.turn()
    assert len(receiver.taken) == 2


def test_what_was_not_taken_is_sent_again_and_what_is_refused_is_not(
    open_api: OpenApi, store: Store, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    api = open_api(GNOMON_WEBHOOKS=receiver.url, GNOMON_WEBHOOK_SECRET=SECRET)
    notifier, job_id = notifier_of(api), post(api)
    store.cancel(job_id)
    receiver.statuses = [503, 302, 404]
    notifier.turn()
    notifier.turn()
    assert len(receiver.taken) == 1, "it is not sent again at once"
    due_now(store)
    notifier.turn()
    assert len(receiver.taken) == 2, "a redirect is not followed"
    due_now(store)
    notifier.turn()
    assert len(receiver.taken) == 2, "302 is no answer that another attempt would change"
    assert "secret-path" not in caplog.text
    assert {headers["webhook-id"] for headers, _ in receiver.taken} == {f"{job_id}-2"}
    with store.reading() as db:
        assert db.execute(notices.select()).mappings().all()[-1]["said"] == "302"
    assert sum(AGAIN_S) > 72_000


def test_a_receiver_that_is_away_holds_up_no_other(
    open_api: OpenApi, store: Store, receiver: Receiver
) -> None:
    api = open_api(GNOMON_WEBHOOKS=f"http://127.0.0.1:9/ {receiver.url}", GNOMON_WEBHOOK_SECRET=SECRET)
    for _ in range(3):
        store.cancel(post(api))
    notifier_of(api).turn()
    assert len(receiver.taken) == 3


def test_alerts_and_used_up_limits_are_told_while_a_job_runs(
    open_api: OpenApi, store: Store, receiver: Receiver
) -> None:
    api = open_api(GNOMON_WEBHOOKS=receiver.url, GNOMON_WEBHOOK_SECRET=SECRET)
    notifier, job_id = notifier_of(api), post(api, {**SPEC, "select": {"limit": 40, "seed": 1}})
    [(_, shard), *_] = store.unfinished_shards(job_id)
    leases = store.lease(job_id, shard, worker="w", ttl_s=60.0, limit=20)
    unread = {"reply_state": ReplyState.UNREADABLE, "answer": None, "score": 0.0}
    store.finish([(lease, row_of(lease, **unread), {"response": "hm"}) for lease in leases])
    with store.writing() as db:
        db.execute(update(jobs).values(is_budget_exhausted=1))
    notifier.turn()
    notifier.turn()
    told = receiver.bodies()
    assert sorted(body["type"] for body in told) == ["job.alert", "job.alert", "job.budget"]
    alert = next(body["data"] for body in told if body["type"] == "job.alert")
    assert (alert["alert"]["kind"], job_id in alert["text"]) == ("unreadable", True)


def test_the_alerts_of_a_report_are_told_once_after_the_end(
    open_api: OpenApi, store: Store, receiver: Receiver
) -> None:
    api = open_api(GNOMON_WEBHOOKS=receiver.url, GNOMON_WEBHOOK_SECRET=SECRET)
    notifier, job_id = notifier_of(api), post(api)
    finish_all(store, job_id, flags=(REPEATED_CALLS,), reply_state=ReplyState.READ)
    notifier.turn()
    wait_until(lambda: store.kept_of([job_id], "report"))
    for _ in range(2):
        notifier.turn()
    ended, *alerts = receiver.bodies()
    assert (ended["type"], {body["type"] for body in alerts}) == ("job.ended", {"job.alert"})
    report = api.get(f"/v1/jobs/{job_id}/report").json()
    assert [body["data"]["alert"] for body in alerts] == report["alerts"] != []


def test_what_ended_before_webhooks_were_set_is_not_told(
    open_api: OpenApi, store: Store, receiver: Receiver
) -> None:
    api = open_api()
    store.cancel(post(api))
    notifier_of(api).turn()
    later = open_api(GNOMON_WEBHOOKS=receiver.url, GNOMON_WEBHOOK_SECRET=SECRET)
    notifier_of(later).turn()
    assert receiver.taken == []


@pytest.mark.parametrize(
    ("environ", "field"),
    [
        ({"GNOMON_WEBHOOKS": "ftp://example.org/hidden"}, "GNOMON_WEBHOOKS"),
        ({"GNOMON_WEBHOOKS": "https:///hidden"}, "GNOMON_WEBHOOKS"),
        ({"GNOMON_WEBHOOKS": "https://example.org/hidden"}, "GNOMON_WEBHOOK_SECRET"),
        (
            {"GNOMON_WEBHOOKS": "https://example.org/hidden", "GNOMON_WEBHOOK_SECRET": "short"},
            "GNOMON_WEBHOOK_SECRET",
        ),
        ({"GNOMON_WEBHOOK_SECRET": "whsec_?"}, "GNOMON_WEBHOOK_SECRET"),
    ],
)
def test_a_webhook_that_cannot_work_is_refused_at_the_start(environ: dict[str, str], field: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_webhooks(environ)
    assert (caught.value.field, "hidden" in str(caught.value)) == (field, False)


def test_a_service_deletes_what_is_too_old(open_api: OpenApi, store: Store) -> None:
    api = open_api(GNOMON_KEEP_DAYS="30")
    old, new, needed = post(api), post(api), post(api)
    for job_id in (old, new, needed):
        finish_all(store, job_id)
    running = post(api, {**SPEC, "name": f"after {needed}"})
    with store.writing() as db:
        db.execute(
            update(jobs).where(jobs.c.id.in_([old, needed])).values(finished_at=time.time() - 31 * 86_400)
        )
    notifier_of(api).turn()
    assert store.job_ids("j_", limit=9) == [running, needed, new]
    assert store.deleted_jobs(limit=1)[0].deleted_by == "kept for 30 days"


def test_a_clean_up_finds_media_that_a_deletion_or_a_use_since_the_last_one_left_unnamed(
    open_api: OpenApi, store: Store, tmp_path: Path
) -> None:
    api, media = open_api(), MediaStore(tmp_path / "media")
    notifier, job_id = notifier_of(api), post(api)
    named, unnamed = media.keep(b"a picture of a job"), media.keep(b"a picture of none")
    notifier.clean()
    assert media.has(unnamed), "a job is open"
    finish_all(store, job_id, response=named)
    notifier.clean()
    assert (media.has(named), media.has(unnamed)) == (True, False)
    media.keep(b"a picture of none")
    time.sleep(0.01)  # what is used while it cleans up stays
    notifier.clean()
    assert (media.has(named), media.has(unnamed)) == (True, False)
    store.delete_job(job_id, by="ada")
    notifier.clean()
    assert not media.has(named)


def test_histograms_hold_what_workers_noted(api: TestClient, redis: Redis) -> None:
    redis.delete(KEY)
    for seconds in (0.2, 0.2, 7.0, 4_000.0):
        durations = Durations()
        durations.note(CALL, 'openai/"x"', "reply", seconds=seconds)
        durations.write(redis)
    durations.note(CALL, 'openai/"x"', "rate_limit", seconds=0.01)
    durations.note(TRIAL, "scored", seconds=1.0)
    durations.note(QUEUE, "gnomon.default.normal", seconds=0.3)
    durations.write(redis)
    lines = api.get("/metrics").text.splitlines()
    of_calls = 'gnomon_provider_call_seconds_%s{model="openai/\\"x\\"",result="reply"'
    assert of_calls % "bucket" + ',le="0.25"} 2' in lines
    assert of_calls % "bucket" + ',le="10"} 3' in lines
    assert of_calls % "bucket" + ',le="+Inf"} 4' in lines
    assert of_calls % "sum" + "} 4007.4" in lines
    assert of_calls % "count" + "} 4" in lines
    assert 'gnomon_trial_seconds_count{outcome="scored"} 1' in lines
    assert 'gnomon_queue_wait_seconds_bucket{queue="gnomon.default.normal",le="0.5"} 1' in lines


def test_the_dashboard_asks_for_metrics_that_there_are(api: TestClient, redis: Redis) -> None:
    test_histograms_hold_what_workers_noted(api, redis)
    served = set(re.findall(r"^# TYPE (\w+)", api.get("/metrics").text, re.MULTILINE))
    board = json.loads((Path(__file__).parents[2] / "deploy/grafana/gnomon.json").read_text())
    asked = set()
    for panel in board["panels"]:
        for target in panel.get("targets", ()):
            asked |= {
                re.sub(r"_(bucket|sum|count)$", "", name)
                for name in re.findall(r"gnomon_\w+", target["expr"])
            }
    assert asked <= served | {"gnomon_limit_granted", "gnomon_limit_put_off", "gnomon_limit_throttled"}
    assert len(asked) >= 10


def test_the_life_of_jobs_is_logged_where_other_things_are_not(capsys: pytest.CaptureFixture[str]) -> None:
    from gnomon_workers.logs import set_up_logs

    set_up_logs({}, level="warning")
    logging.getLogger(JOBS).info("job j_1 posted by ada")
    logging.getLogger("another").info("nothing of interest")
    set_up_logs({"GNOMON_LOG_FORMAT": "json", "GNOMON_LOG_LEVEL": "error"})
    logging.getLogger(JOBS).info("job j_2 posted")
    set_up_logs({}, level="warning")  # as tests that come after it expect
    said = capsys.readouterr().err
    assert re.fullmatch(r"[\d:, -]+ INFO gnomon.jobs job j_1 posted by ada\n", said)
