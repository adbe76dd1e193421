"""Deleting jobs: what goes, what stays, and what must not go."""

import json
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import func, select, update
from starlette.testclient import TestClient

from gnomon.core.errors import Conflict, Gone
from gnomon.core.review import ReviewQueue
from gnomon.media import MediaStore
from gnomon_service import deletion
from gnomon_service.cli.main import main
from gnomon_service.settings import Settings, own_database
from gnomon_workers.store.schema import deleted_jobs, jobs, metadata, trials
from gnomon_workers.store.store import Store
from tests.service.play import finish_all, post
from tests.workers.conftest import BOTH, TRACE, create, kind, make_row, new_url, url

__all__ = ["kind", "new_url", "url"]
SHARED, OWN, UNNAMED = b"a picture of two jobs", b"a picture of one", b"a picture of none"


def name_of(picture: bytes) -> str:
    return sha256(picture).hexdigest()


def end(store: Store, *pictures: bytes) -> str:
    """A job of which every trial has ended, and saw these pictures."""
    job = create(store, 2)
    shown = [{"type": "image", "sha256": name_of(picture)} for picture in pictures]
    for shard in range(job.shards):
        for lease in store.lease(job.id, shard, worker="w", ttl_s=9.0):
            store.finish([(lease, make_row(lease), {**TRACE, "prompt": shown})])
    assert store.job(job.id).status == "completed"
    return job.id


def rows_of_job(store: Store, job_id: str) -> dict[str, int]:
    """How many rows name the job, or one of its trials, by table."""
    with store.reading() as db:
        return {
            table.name: count
            for table in metadata.sorted_tables
            for column in (table.c.get("job_id"), jobs.c.id if table is jobs else None)
            if column is not None
            and (count := db.execute(select(func.count()).where(column == job_id)).scalar_one())
        }


@BOTH
def test_a_job_goes_with_its_own_media_and_its_seal_and_counts_stay(url: str, tmp_path: Path) -> None:
    settings, store = Settings(data_dir=tmp_path, database_url=url), Store(url)
    media = MediaStore(tmp_path / "media")
    for picture in (SHARED, OWN, UNNAMED):
        media.keep(picture)
    job_id, other = end(store, SHARED, OWN), end(store, SHARED)
    store.create_queue(ReviewQueue(name="q", job_id=job_id, mode="label", choice="all", samples=("s0",)))
    store.seal_results(job_id)
    seal, kept = store.seal(job_id), store.trial(next(store.iter_rows(other)).trial_id)
    before = deletion.preview(settings, store, job_id)
    assert (before["trials"], before["results"], before["media"]["files"]) == (4, 4, 1)
    assert media.has(name_of(OWN)), "a preview deletes nothing"
    assert deletion.delete(settings, store, job_id, by="ada") == before
    assert [media.has(name_of(each)) for each in (SHARED, OWN, UNNAMED)] == [True, False, True]
    assert rows_of_job(store, job_id) == {"deleted_jobs": 1, "seals": 2}
    with pytest.raises(Gone, match=rf"{job_id} was deleted at .* UTC \(ada\)"):
        store.job(job_id)
    [gone] = store.deleted_jobs(limit=9)
    assert (gone.id, gone.scored, gone.known_usd, gone.deleted_by) == (job_id, 4, 2.0, "ada")
    assert store.seal(job_id) == seal
    assert store.trial(kept.trial.trial_id) == kept
    assert deletion.delete_unnamed_media(settings, store, is_dry=True).files == 1
    assert deletion.delete_unnamed_media(settings, store, is_dry=False).bytes == len(UNNAMED)
    assert [media.has(name_of(each)) for each in (SHARED, UNNAMED)] == [True, False]
    store.close()


@BOTH
def test_what_a_killed_deletion_left_the_next_one_deletes(url: str) -> None:
    store = Store(url)
    job_id = end(store)
    store.delete_job(job_id, by="ada")
    with store.writing() as db:
        db.execute(update(deleted_jobs).values(is_gone=0))
        db.execute(trials.insert().values(_left(job_id)))
    store.finish_deletions()
    assert rows_of_job(store, job_id).keys() == {"deleted_jobs", "seals"}
    store.close()


def _left(job_id: str) -> dict[str, object]:
    of_trial = dict.fromkeys(("sample_id", "task", "cell", "cluster", "model", "arm"), "x")
    return {**of_trial, "trial_id": "t", "job_id": job_id, "ordinal": 0, "shard": 0, "repeat": 0}


@BOTH
def test_what_runs_or_is_needed_by_what_runs_is_not_deleted(url: str) -> None:
    store = Store(url)
    running = create(store)
    with pytest.raises(Conflict, match="is queued: cancel it first"):
        store.deletion(running.id)
    [lease, *_] = store.lease(running.id, 0, worker="w", ttl_s=60.0)
    store.cancel(running.id)
    with pytest.raises(Conflict, match="still run"):
        store.delete_job(running.id, by="")
    ended = end(store)
    needing = create(store, name=f"after {ended}")
    with pytest.raises(Conflict, match=f"{needing.id} is queued and needs {ended}"):
        store.delete_job(ended, by="")
    store.cancel(needing.id)
    assert store.deletion(ended).named_by == (needing.id,)
    assert store.finish([(lease, make_row(lease), TRACE)]) == set(), "what was refused has lost nothing"
    store.close()


def test_a_late_result_of_a_deleted_job_is_refused(tmp_path: Path) -> None:
    store = Store(own_database(tmp_path))
    job = create(store)
    [lease, *_] = store.lease(job.id, 0, worker="w", ttl_s=-1.0)
    store.cancel(job.id)
    store.delete_job(job.id, by="")
    assert store.finish([(lease, make_row(lease), TRACE)]) == {lease.trial.trial_id}
    store.close()


def test_media_stay_while_a_job_is_open(tmp_path: Path) -> None:
    settings, store = (
        Settings(data_dir=tmp_path, database_url=own_database(tmp_path)),
        Store(own_database(tmp_path)),
    )
    media = MediaStore(tmp_path / "media")
    media.keep(OWN)
    job_id, _open = end(store, OWN), create(store)
    assert deletion.delete(settings, store, job_id, by="")["media"]["is_put_off"]
    assert media.has(name_of(OWN)), "its next trial may show it"
    store.close()


def test_old_jobs_are_deleted_by_age(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(own_database(tmp_path))
    old, new, running = end(store), end(store), create(store).id
    with store.writing() as db:
        db.execute(update(jobs).where(jobs.c.id == old).values(finished_at=jobs.c.finished_at - 100 * 86_400))
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path))
    assert "would be deleted: 1 job, 4 trials, 4 results" in run(
        capsys, "delete", "--older-than", "90", "--dry-run"
    )
    assert set(store.job_ids("j_", limit=9)) == {old, new, running}
    run(capsys, "delete", "--older-than", "90")
    assert set(store.job_ids("j_", limit=9)) == {new, running}
    assert old in run(capsys, "jobs", "--deleted")
    assert json.loads(run(capsys, "seal", old).splitlines()[-1])["kind"] == "results"
    assert "needed: a job" in run(capsys, "delete", code=2)
    assert "cancel it first" in run(capsys, "delete", new, running, code=2)
    assert new in store.job_ids("j_", limit=9), "of several none is deleted where one cannot be"
    store.close()


def run(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> str:
    with pytest.raises(SystemExit) as ended:
        main(list(args))
    said = capsys.readouterr()
    assert ended.value.code == code, said
    return said.out + said.err


def test_the_api_and_the_page_delete_a_job(api: TestClient, store: Store, tmp_path: Path) -> None:
    first, second = post(api), post(api)
    assert api.delete(f"/v1/jobs/{first}").status_code == 409
    for job_id in (first, second):
        finish_all(store, job_id)
    assert api.delete(f"/v1/jobs/{first}?dry_run=true").json()["trials"] == 12
    assert api.get(f"/v1/jobs/{first}").status_code == 200
    assert api.delete(f"/v1/jobs/{first}").json()["results"] == 12
    gone = api.get(f"/v1/jobs/{first}")
    assert (gone.status_code, gone.json()["title"]) == (410, "Deleted")
    assert api.get(f"/v1/jobs/{first}/seal").text.count("\n") == 2
    assert "This would delete 1 job, 12 trials" in api.get(f"/ui/jobs/{second}/delete").text
    assert f"/ui/jobs/{second}/delete" in api.get(f"/ui/jobs/{second}").text
    assert api.post(f"/ui/jobs/{second}/delete", follow_redirects=False).status_code == 303
    assert [job["id"] for job in api.get("/v1/keys").json()["deleted"]] == [second, first]
