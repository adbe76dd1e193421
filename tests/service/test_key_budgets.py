"""Keys with a name, an owner and a budget: who posted what, and what it may cost in a month."""

import threading
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from gnomon.core.errors import OutOfBudget, SpecError
from gnomon.spec.job_spec import JobSpec
from gnomon_service.api.access import COOKIE
from gnomon_service.api_keys import entry_of, new_key, parse_key
from gnomon_service.cli.main import main
from gnomon_workers.poster import Poster
from gnomon_workers.store.activity import Deed
from gnomon_workers.store.schema import deleted_jobs, jobs
from gnomon_workers.store.store import Store
from tests.service.play import SPEC, OpenApi, finish_all
from tests.workers.conftest import BOTH, TRACE, kind, make_row, make_spec, new_url, url
from tests.workers.tiny_worker import refs

__all__ = ["kind", "new_url", "url"]
ADA, BOB, READER = "adas-key-0123456789", "bobs-key-0123456789", "reader-key-0123456789"
KEYS = f"{ADA} name=ada owner=lab usd=10 tokens=5000, {BOB} name=bob owner=field, read {READER} name=eve"
PAID = {"id": "paid", "price": {"input": 1, "output": 1}, "max_tokens": 10}


def paid(**limits: Any) -> JobSpec:
    return make_spec(2, models=[PAID], limits=limits)


def poster(usd: float | None = None, tokens: int | None = None) -> Poster:
    return Poster(name="ada", owner="lab", usd=usd, tokens=tokens)


def test_an_entry_says_who_it_is_and_what_it_may_spend() -> None:
    key = parse_key(f"read {ADA} until 2999-01-01 tokens=1000 usd=12.50 owner=lab name=ada")
    assert (key.scope, key.name, key.owner, key.usd, key.tokens) == ("read", "ada", "lab", 12.5, 1000)
    made = new_key()
    entry = entry_of(made, "run", name="ada", usd="5")
    assert parse_key(entry).poster == Poster(name="ada", usd=5.0)
    assert parse_key(ADA).poster.name.startswith("key-"), "a key without a name is told from others"


@pytest.mark.parametrize(
    "option", ["usd=-1", "usd=NaN", "usd=1e9", "tokens=1.5", "name=", "name=a,b", "owner=ü x", "budget=1"]
)
def test_a_bad_option_of_an_entry_is_refused(option: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_key(f"{ADA} {option}")
    assert ADA not in str(caught.value)


@BOTH
def test_jobs_of_a_month_cost_no_more_than_the_keys_budget(url: str) -> None:
    store = Store(url)

    def create(by: Poster, **limits: Any) -> str:
        return store.create_job(paid(**limits), refs(2), poster=by).id

    with pytest.raises(SpecError, match=r"limits.usd: the key ada has \$10 of \$10 left .* needs a limit"):
        create(poster(10.0))
    with pytest.raises(OutOfBudget, match=r"limits.usd: .* got \$10.5"):
        create(poster(10.0), usd=10.5)
    first = create(poster(10.0), usd=6.0)
    with pytest.raises(OutOfBudget, match=r"\$4 of \$10 left"):
        create(poster(10.0), usd=5.0)
    assert store.job_ids("j_", limit=9) == [first], "nothing is left of what was refused"
    assert create(Poster(name="bob", usd=9.0), usd=8.0), "another key has a budget of its own"
    for shard in range(store.job(first).shards):
        for lease in store.lease(first, shard, worker="w", ttl_s=9.0):
            store.finish([(lease, make_row(lease, usd=0.25), TRACE)])
    assert store.spent_this_month("ada").usd == pytest.approx(1.0), "what has ended counts by what it cost"
    with store.writing() as db:  # as of a worker that died with calls in flight
        db.execute(update(jobs).where(jobs.c.id == first).values(possible_usd=2.5))
    assert store.spent_this_month("ada").usd == pytest.approx(3.5), "what may have been spent counts"
    store.delete_job(first, by="")
    assert store.spent_this_month("ada").usd == pytest.approx(3.5), "and goes on to count"
    with store.writing() as db:
        db.execute(update(deleted_jobs).values(possible_usd=0.0))
    assert store.spent_this_month("ada").usd == pytest.approx(1.0), "deleting a job gives nothing back"
    second = create(poster(10.0), usd=9.0)
    store.cancel(second)
    with store.writing() as db:  # in the month before
        db.execute(
            update(jobs).where(jobs.c.id == second).values(finished_at=jobs.c.finished_at - 32 * 86_400)
        )
    assert store.spent_this_month("ada") == (pytest.approx(1.0), 48, 1)
    with pytest.raises(SpecError, match=r"limits\.tokens"):
        create(poster(10.0, tokens=100), usd=1.0)
    with pytest.raises(OutOfBudget, match="52 of 100 tokens left"):
        create(poster(10.0, tokens=100), usd=1.0, tokens=53)
    free = store.create_job(make_spec(2), refs(2), poster=poster(0.0))
    assert (free.posted_by, free.owner) == ("ada", "lab")
    store.close()


@BOTH
def test_two_jobs_that_are_posted_at_once_do_not_both_get_the_rest(url: str) -> None:
    store = Store(url)
    barrier, refused = threading.Barrier(4), []

    def create() -> None:
        barrier.wait()
        try:
            store.create_job(paid(usd=6.0), refs(2), poster=poster(10.0))
        except OutOfBudget as error:
            refused.append(error)

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(refused), len(store.job_ids("j_", limit=9))) == (3, 1)
    store.close()


def as_(api: TestClient, key: str, verb: str, path: str, **options: Any) -> Any:
    return api.request(verb, path, headers={"Authorization": f"Bearer {key}"}, **options)


def test_who_posted_cancelled_and_looked_is_kept_and_jobs_are_found_by_owner(
    open_api: OpenApi, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "gnomon.jobs")
    api = open_api(GNOMON_API_KEYS=KEYS)
    by_ada = as_(api, ADA, "POST", "/v1/jobs", json=SPEC).json()["id"]
    by_bob = as_(api, BOB, "POST", "/v1/jobs", json={**SPEC, "name": "field work"}).json()["id"]
    for _ in range(2):
        assert as_(api, READER, "GET", f"/v1/jobs/{by_ada}").json()["owner"] == "lab"
    as_(api, READER, "GET", "/v1/jobs/j_none")
    as_(api, BOB, "POST", f"/v1/jobs/{by_ada}/cancel")
    view = as_(api, READER, "GET", "/v1/keys").json()
    assert [(key["name"], key["owner"], key["usd_budget"], key["jobs"]) for key in view["keys"]] == [
        ("ada", "lab", 10.0, 1),
        ("bob", "field", None, 1),
        ("eve", "", None, 0),
    ]
    assert {(done["who"], done["action"], done["job_id"], done["times"]) for done in view["done"]} == {
        ("ada", "posted", by_ada, 1),
        ("bob", "posted", by_bob, 1),
        ("eve", "looked", by_ada, 1),
        ("bob", "cancelled", by_ada, 1),
    }
    listed = as_(api, READER, "GET", "/v1/jobs?owner=field").json()["items"]
    assert [job["id"] for job in listed] == [by_bob]
    home = as_(api, READER, "GET", "/index.json?owner=lab").json()
    assert [job["id"] for job in home["jobs"]] == [by_ada]
    assert home["owners"] == ["field", "lab"]
    assert [job["id"] for job in as_(api, READER, "GET", "/index.json?q=field").json()["jobs"]] == [by_bob]
    assert "posted by ada of lab" in as_(api, READER, "GET", f"/ui/jobs/{by_ada}").text
    assert 'href="/ui/trips?owner=field"' in as_(api, READER, "GET", "/ui/trips").text
    form = {"Accept": "text/html", "Cookie": f"{COOKIE}={READER}", "Origin": "http://127.0.0.1:8000"}
    refused = api.post(f"/ui/jobs/{by_ada}/resume", headers=form).text
    assert "This key may read only; allowed: a key with the scope run." in refused
    assert "Sign in with another key" in refused
    page = as_(api, READER, "GET", "/ui/keys").text
    assert "3 keys, 1 with a monthly budget" in page
    assert ADA not in page
    assert f"job {by_ada} cancelled by bob of field: 0 of 12 trials have ended" in caplog.messages


def test_a_key_with_an_owner_deletes_and_one_with_a_budget_resumes_its_own_jobs_only(
    open_api: OpenApi, store: Store
) -> None:
    api = open_api(GNOMON_API_KEYS=KEYS)
    by_bob = as_(api, BOB, "POST", "/v1/jobs", json=SPEC).json()["id"]
    finish_all(store, by_bob)
    refused = as_(api, ADA, "DELETE", f"/v1/jobs/{by_bob}")
    assert (refused.status_code, "of field" in refused.json()["detail"]) == (409, True)
    refused = as_(api, ADA, "POST", f"/v1/jobs/{by_bob}/resume")
    assert (refused.status_code, "posted by bob" in refused.json()["detail"]) == (409, True)
    assert as_(api, READER, "DELETE", f"/v1/jobs/{by_bob}").status_code == 403
    assert as_(api, BOB, "DELETE", f"/v1/jobs/{by_bob}").status_code == 200


def test_the_command_lists_the_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("GNOMON_API_KEYS", KEYS)
    store = Store(f"sqlite:///{tmp_path}/gnomon.db")
    job_id = store.create_job(make_spec(2, name="mine"), refs(2), poster=poster()).id
    store.note_deeds([Deed(job_id=job_id, who="bob", action="looked")] * 2)
    store.close()
    with pytest.raises(SystemExit, match="0"):
        main(["keys"])
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "ada  lab  run  $0.00 of $10.00, 0 of 5,000 tokens, 1 job this month"
    assert said[-1].endswith(f"  bob looked at {job_id}, 2 times  mine")
    with pytest.raises(SystemExit, match="2"):
        main(["keys", "new", "--usd", "lots"])
    assert "usd= takes dollars" in capsys.readouterr().err
