"""Backups: whole or not at all, of either database into either, while everything goes on."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from gnomon.core.errors import Conflict, DataError
from gnomon.media import MediaStore
from gnomon_service.backup import restore_backup, write_backup
from gnomon_service.cli.main import main
from gnomon_service.settings import Settings, own_database
from gnomon_workers.store.database import AnyRevision
from gnomon_workers.store.migration import migrate
from gnomon_workers.store.schema import REVISION
from gnomon_workers.store.store import Store
from tests.workers.conftest import TRACE, bare_url, create, kind, make_row
from tests.workers.test_migration import OLDER_REVISIONS, insert_oldest

__all__ = ["bare_url", "kind"]
PICTURE = b"a picture"
FROM_EITHER = pytest.mark.parametrize("kind", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture
def url(bare_url: str) -> str:
    """Of a database without tables."""
    return bare_url


def settings_over(folder: Path, url: str = "") -> Settings:
    return Settings(data_dir=folder, database_url=url or own_database(folder))


def fill(settings: Settings, jobs: int = 2) -> list[str]:
    """Jobs with one trial of eight done, and a picture."""
    MediaStore(settings.data_dir / "media").keep(PICTURE)
    with closing(Store(settings.database_url)) as store:
        ids = [create(store).id for _ in range(jobs)]
        for job_id in ids:
            lease = store.lease(job_id, 0, worker="w", ttl_s=9.0)[0]
            assert store.finish([(lease, make_row(lease), TRACE)]) == set()
    return ids


def contents(settings: Settings) -> object:
    """What there is of all jobs."""
    with closing(Store(settings.database_url)) as store:
        jobs = [replace(job, quiet_s=None) for job in store.jobs().items]  # it grows from look to look
        rows = {job.id: list(store.iter_rows(job.id)) for job in jobs}
        traces = [store.trace(row.trial_id) for some in rows.values() for row in some]
        return jobs, rows, traces, [[line.text for line in store.seal(job.id)] for job in jobs]


@FROM_EITHER
def test_what_was_backed_up_is_there_again_in_either_kind_of_database(tmp_path: Path, url: str) -> None:
    first, second = settings_over(tmp_path / "a", url), settings_over(tmp_path / "b")
    ids = fill(first)
    made = write_backup(first, tmp_path / "all.zip")
    assert (made.rows["jobs"], made.rows["trials"], made.rows["results"], made.media) == (2, 16, 2, 1)
    before = contents(first)
    assert restore_backup(second, tmp_path / "all.zip", replaces=False) == made
    assert contents(second) == before
    assert MediaStore(second.data_dir / "media").has(sha256(PICTURE).hexdigest())
    # And back, over what has come since.
    with closing(Store(first.database_url)) as store:
        later = create(store).id
    with pytest.raises(Conflict, match="holds 3 jobs; --replace"):
        restore_backup(first, tmp_path / "all.zip", replaces=False)
    write_backup(second, tmp_path / "back.zip")
    restore_backup(first, tmp_path / "back.zip", replaces=True)
    assert contents(first) == before
    with closing(Store(first.database_url)) as store:
        new = create(store).id
        assert store.job_ids("j_", limit=9) == [new, *reversed(ids)], "new jobs come after those of before"
        assert later not in store.job_ids("j_", limit=9)
        lease, *_ = store.lease(new, 0, worker="w", ttl_s=9.0)
        assert store.finish([(lease, make_row(lease), TRACE)]) == set()
        assert store.rows_after(ids[0], 0, 9)[0][0] < store.rows_after(new, 0, 9)[0][0]


@FROM_EITHER
def test_a_backup_of_older_tables_is_restored_into_those_of_today(tmp_path: Path, url: str) -> None:
    settings = settings_over(tmp_path / "a", url)
    migrate(url, "0013", folder=OLDER_REVISIONS)
    with closing(AnyRevision(url)) as database, database.writing() as db:
        insert_oldest(db)
    assert write_backup(settings, tmp_path / "old.zip").revision == "0013"
    restore_backup(settings_over(tmp_path / "b"), tmp_path / "old.zip", replaces=False)
    with closing(Store(own_database(tmp_path / "b"))) as store:
        assert [row.score for row in store.iter_rows("j_old")] == [1.0]


def test_an_upgrade_backs_up_what_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    migrate(own_database(tmp_path), "0017", folder=OLDER_REVISIONS)
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path))
    for said in (rf"0017-.*\.zip\nwas 0017, is {REVISION}\n", rf"^was {REVISION}, is {REVISION}\n"):
        with pytest.raises(SystemExit, match="0"):
            main(["database", "upgrade"])
        assert re.search(said, capsys.readouterr().out)
    [file] = (tmp_path / "backups").iterdir()
    assert (file.stat().st_mode & 0o777, json.loads(ZipFile(file).read("manifest.json"))["revision"]) == (
        0o600,
        "0017",
    )


@FROM_EITHER
def test_a_backup_is_of_one_moment_and_a_restore_waits_its_turn_while_others_write(
    tmp_path: Path, url: str
) -> None:
    settings = settings_over(tmp_path / "a", url)
    fill(settings)
    stop = threading.Event()

    def go_on() -> None:
        with closing(Store(url)) as store:
            while not stop.is_set():
                fill_one(store)

    writer = threading.Thread(target=go_on)
    writer.start()
    try:
        counts = [write_backup(settings, tmp_path / f"{at}.zip").rows for at in range(2)]
        assert counts[0]["jobs"] < counts[1]["jobs"]
        restore_backup(settings, tmp_path / "0.zip", replaces=True)
    finally:
        stop.set()
        writer.join()
    with closing(Store(url)) as store:
        fill_one(store)
        ended = [job.counts.done for job in store.jobs(limit=10_000).items]
        assert len(ended) > counts[0]["jobs"], "who wrote meanwhile goes on"
        assert sum(ended) == sum(store.count_outcomes().values()) >= counts[0]["results"]
    for at, rows in enumerate(counts):
        folder = tmp_path / f"restored{at}"
        restore_backup(settings_over(folder), tmp_path / f"{at}.zip", replaces=False)
        with closing(Store(own_database(folder))) as store:
            ended = [job.counts.done for job in store.jobs(limit=10_000).items]
            assert (len(ended), sum(ended)) == (
                rows["jobs"],
                rows["results"],
            ), "counts and rows are of one moment"


def fill_one(store: Store) -> None:
    for lease in store.lease(create(store, 1).id, 0, worker="w", ttl_s=9.0):  # none: a restore came between
        store.finish([(lease, make_row(lease), TRACE)])


def killed_at(command: list[str], folder: Path, has_come: Callable[[], bool]) -> None:
    """Kill a command as soon as that is so."""
    environ = {**os.environ, "GNOMON_DATA_DIR": str(folder)}
    with subprocess.Popen([sys.executable, "-m", "gnomon_service.cli", *command], env=environ) as process:
        until_s = time.monotonic() + 60
        while not has_come():
            assert process.poll() is None, "it ended before it could be killed"
            assert time.monotonic() < until_s
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL


def test_who_kills_a_backup_or_a_restore_finds_what_was_there_before(tmp_path: Path) -> None:
    settings, file = settings_over(tmp_path / "a"), tmp_path / "out" / "all.zip"
    file.parent.mkdir()
    fill(settings)
    write_backup(settings, file)
    small, before = contents(settings), file.read_bytes()
    with closing(Store(settings.database_url)) as store:
        create(store, 6_000)
    parts = file.parent.glob
    killed_at(["backup", str(file)], settings.data_dir, lambda: any(parts(".part-*/gnomon.db-wal")))
    assert file.read_bytes() == before
    large = tmp_path / "large.zip"
    write_backup(settings, large)
    other = settings_over(tmp_path / "b")
    restore_backup(other, file, replaces=False)
    wal = other.data_dir / "gnomon.db-wal"
    is_writing = lambda: wal.exists() and wal.stat().st_size > 500_000  # noqa: E731
    killed_at(["restore", "--replace", str(large)], other.data_dir, is_writing)
    assert contents(other) == small
    restore_backup(other, large, replaces=True)
    assert contents(other) == contents(settings)


@pytest.mark.parametrize("damage", ["cut", "text", "rows", "media"])
def test_a_damaged_backup_changes_nothing(tmp_path: Path, damage: str) -> None:
    settings, file = settings_over(tmp_path / "a"), tmp_path / "all.zip"
    fill(settings)
    write_backup(settings, file)
    with ZipFile(file) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:-200])
    elif damage == "text":
        file.write_text("no zip")
    else:
        facts = json.loads(parts["manifest.json"])
        parts["manifest.json"] = json.dumps({**facts, "rows": {**facts["rows"], "results": 3}}).encode()
        if damage == "media":
            [name] = (name for name in parts if name.startswith("media/"))
            parts[name] = b"another picture"
        with ZipFile(file, "w", ZIP_DEFLATED) as changed:
            for name, data in parts.items():
                changed.writestr(name, data)
    before = contents(settings)
    with pytest.raises(DataError, match=r"no whole backup|other rows|damaged"):
        restore_backup(settings, file, replaces=True)
    assert contents(settings) == before
