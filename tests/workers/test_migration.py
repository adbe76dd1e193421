"""Revisions of the tables: forward, back, and never half way."""

import itertools
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection, inspect, select, text, update

from gnomon.core.errors import SpecError
from gnomon.core.row import ROW_COLUMNS
from gnomon_workers.store import Store
from gnomon_workers.store.database import AnyRevision, revision_of
from gnomon_workers.store.migration import REVISIONS, lost_on_the_way, migrate
from gnomon_workers.store.older_tables import OLDER, complete
from gnomon_workers.store.schema import (
    REVISION,
    alembic_version,
    jobs,
    metadata,
    model_checks,
    replies,
)
from tests.workers.conftest import BOTH, TRACE, create, make_row, make_spec

NEXT = '''"""One more column."""
import sqlalchemy as sa
from alembic import op
revision, down_revision = "next", "{last}"

def upgrade():
    op.add_column("jobs", sa.Column("colour", sa.Text()))
    op.execute("UPDATE jobs SET colour = 'red'")

def downgrade():
    op.drop_column("jobs", "colour")
'''
OF_TRIAL = {
    "job_id": "j_old",
    "sample_id": "s0",
    "task": "t",
    "cell": "c",
    "cluster": "k",
    "model": "scripted",
    "repeat": 0,
}
OLDER_REVISIONS = Path(__file__).parent / "older_revisions"  # the steps of before the first revision
BROKEN = '    raise RuntimeError("half way")\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Our revisions and a planted one after them."""
    folder = tmp_path / "revisions"
    shutil.copytree(REVISIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "r9999_next.py").write_text(NEXT.format(last=REVISION))
    return folder


@pytest.fixture
def url(bare_url: str) -> str:
    """Of a database without tables."""
    return bare_url


def columns(url: str) -> set[str]:
    database = AnyRevision(url)
    with database.reading() as db:
        found = {column["name"] for column in inspect(db).get_columns("jobs")}
    database.close()
    return found


def is_for(dialect: str, item: Any, *_: object) -> bool:
    """Whether a part of the schema is to be made in a database of this dialect; Alembic does not ask."""
    condition = getattr(item, "_ddl_if", None)
    return condition is None or condition.dialect == dialect


@BOTH
def test_the_revisions_lead_to_the_tables_that_the_store_uses(url: str) -> None:
    assert migrate(url) == (None, REVISION)
    store = Store(url)
    with store.reading() as db:
        here = MigrationContext.configure(db, opts={"include_object": partial(is_for, db.dialect.name)})
        assert compare_metadata(here, metadata) == []
    create(store)
    store.close()
    assert migrate(url) == (REVISION, REVISION), "there is nothing left to do"


@BOTH
def test_forward_and_back_keep_what_both_can_hold(url: str, folder: Path) -> None:
    store = Store(url)
    job = create(store)
    store.close()
    assert migrate(url, folder=folder) == (REVISION, "next")
    assert "colour" in columns(url)
    with pytest.raises(SpecError, match=r"revision next.*needs.*gnomon database upgrade"):
        Store(url)
    assert migrate(url, REVISION, folder=folder) == ("next", REVISION)
    store = Store(url)
    assert store.job(job.id) == job
    store.close()


def insert_oldest(db: Connection) -> None:
    """A job with two trials, one of them done, as the first revision kept them."""
    spec = make_spec(1).model_dump_json()
    insert(
        db,
        "jobs",
        {"number": 1, "id": "j_old", "name": "old", "status": "queued", "spec": spec, "spec_hash": "h"},
        {
            "benchmark": "tiny",
            "created_at": 5.0,
            "planned": 2,
            "shard_size": 2,
            "scored": 1,
            "model_failed": 0,
        },
        {"infra_missing": 0, "known_usd": 0.5, "unknown_usd": 0, "known_tokens": 12, "unknown_tokens": 0},
        {"faults": "[]", "error": ""},
    )
    for ordinal, (arm, state) in enumerate((("raw", "done"), ("tools", "pending"))):
        insert(
            db,
            "trials",
            {
                "trial_id": f"t{ordinal}",
                "ordinal": ordinal,
                "shard": 0,
                "state": state,
                "attempt": 1,
                "token": 1,
            },
            {**OF_TRIAL, "arm": arm},
        )
    insert(
        db,
        "results",
        {"seq": 1, "trial_id": "t0", **OF_TRIAL, "arm": "raw", "benchmark": "tiny", "outcome": "scored"},
        {"stop_reason": "answered", "score": 1.0, "metrics": "{}", "answer": "A", "flags": '["clipped"]'},
        {"model_calls": 1, "tool_calls": 0, "tool_errors": 0, "tools_used": "{}", "cache_hits": 0},
        {"prompt_tokens": 10, "completion_tokens": 2, "usd": 0.5, "wall_s": 1.5, "attempt": 1},
    )


def insert(db: Connection, table: str, *parts: dict[str, Any]) -> None:
    values = {name: value for part in parts for name, value in part.items()}
    columns, places = ", ".join(values), ", ".join(f":{name}" for name in values)
    db.execute(text(f"INSERT INTO {table} ({columns}) VALUES ({places})"), values)


@BOTH
def test_a_column_that_earlier_results_lack_holds_its_fields_default_in_them(url: str) -> None:
    store = Store(url)
    job = create(store)
    [lease, *_] = store.lease(job.id, 0, worker="w", ttl_s=9.0)
    store.finish([(lease, make_row(lease), TRACE)])
    later = ("metrics", "flags", "tools_used", "cache_hits", "wall_s", "attempt", "error")
    with store.writing() as db:
        for name in later:
            db.execute(text(f"ALTER TABLE results DROP COLUMN {name}"))
        complete(db, Operations(MigrationContext.configure(db)))
    [row] = store.iter_rows(job.id)
    defaults = {column.name: column.default for column in ROW_COLUMNS}
    assert {name: getattr(row, name) for name in later} == {name: defaults[name] for name in later}
    store.close()


# What is missing is found in the same way on both; what PostgreSQL alone has to lose, the first revision has.
ON_BOTH = [
    pytest.param(kind, each, marks=pytest.mark.soak if kind == "postgresql" and each in OLDER[1:-1] else ())
    for kind in ("sqlite", "postgresql")
    for each in OLDER
]


@pytest.mark.parametrize(("kind", "revision"), ON_BOTH, indirect=["kind"])
def test_a_database_of_before_the_first_revision_is_read_once_it_is_upgraded(url: str, revision: str) -> None:
    migrate(url, revision, folder=OLDER_REVISIONS)
    with closing(AnyRevision(url)) as database, database.writing() as db:
        insert_oldest(db)
    with pytest.raises(SpecError, match=rf"revision {revision}.*needs {REVISION}.*gnomon database upgrade"):
        Store(url)
    assert migrate(url) == (revision, REVISION)
    store = Store(url)
    with store.reading() as db:
        here = MigrationContext.configure(db, opts={"include_object": partial(is_for, db.dialect.name)})
        assert compare_metadata(here, metadata) == []
    assert (store.job("j_old").counts.scored, store.job("j_old").known_usd) == (1, 0.5)
    [row] = store.iter_rows("j_old")
    assert (row.score, row.flags, row.prompt_tokens, row.usd) == (1.0, ("clipped",), 10, 0.5)
    unknown = ("cached_tokens", "reasoning_tokens", "tools_offered", "reply_state", "started_at", "ended_at")
    new = {"error": "", "read_by": "", "model_version": "", **dict.fromkeys(unknown)}
    assert {name: getattr(row, name) for name in new} == new, "a column of later has its default"
    [lease] = store.lease("j_old", 0, worker="w", ttl_s=9.0)
    later = make_row(lease, model_calls=None, tool_calls=None, tool_errors=None)
    assert store.finish([(lease, later, TRACE)]) == set()
    assert store.job("j_old").status == "completed"
    store.close()


# What is done at once is the same at each: all of them are upgraded above, without load.
@pytest.mark.parametrize(
    "revision",
    [pytest.param(each, marks=() if each in (OLDER[0], OLDER[-1]) else pytest.mark.soak) for each in OLDER],
)
def test_an_upgrade_under_load_is_made_once_and_loses_no_trial_and_no_write(
    tmp_path: Path, revision: str
) -> None:
    url = f"sqlite:///{tmp_path}/gnomon.db"
    migrate(url, revision, folder=OLDER_REVISIONS)
    with closing(AnyRevision(url)) as database, database.writing() as db:
        insert_oldest(db)

    def opened() -> Store:
        """As by a process that is started again and again until it may begin."""
        while True:
            try:
                return Store(url)
            except SpecError as error:
                if "gnomon database upgrade" not in str(error):
                    raise

    def work(number: int) -> int:
        """How many trials a worker of today has ended."""
        with opened() as store:
            leases = store.lease("j_old", 0, worker=f"w{number}", ttl_s=9.0)
            rows = [(lease, make_row(lease), TRACE) for lease in leases]
            assert store.finish(rows) == set()
            return len(rows)

    def write_on() -> int:
        """How often a process of before has written, that nobody stopped."""
        with closing(AnyRevision(url)) as database:
            for count in itertools.count():
                with database.writing() as db:
                    if revision_of(db) != revision:
                        return count
                    db.execute(text("UPDATE jobs SET known_tokens = known_tokens + 1"))
        raise AssertionError

    def post() -> str:
        with opened() as store:
            return create(store, 1).id

    with ThreadPoolExecutor(7) as threads:
        written, posted = threads.submit(write_on), threads.submit(post)
        working = [threads.submit(work, number) for number in range(3)]
        moved = sorted(threads.map(migrate, [url, url]))
    assert moved == [(revision, REVISION), (REVISION, REVISION)]
    assert sorted(task.result() for task in working) == [0, 0, 1]
    with Store(url) as store:
        old = store.job("j_old")
        assert (old.status, old.counts.scored) == ("completed", 2)
        assert old.known_tokens == 12 + written.result() + 12, "of before, and of the row that was missing"
        assert len({row.trial_id for row in store.iter_rows("j_old")}) == 2
        assert store.job(posted.result()).counts.planned == 2


@BOTH
def test_the_first_revision_is_brought_to_the_last(url: str) -> None:
    store = Store(url)
    job = create(store)
    store.close()
    assert migrate(url, "0018") == (REVISION, "0018")
    assert not columns(url) & {"owner", "posted_by", "told_at"}
    assert migrate(url) == ("0018", REVISION)
    store = Store(url)
    with store.reading() as db:
        here = MigrationContext.configure(db, opts={"include_object": partial(is_for, db.dialect.name)})
        assert compare_metadata(here, metadata) == []
    assert store.job(job.id) == job
    store.close()


@BOTH
def test_new_names_keep_what_is_stored(url: str) -> None:
    migrate(url, "0007", folder=OLDER_REVISIONS)
    database = AnyRevision(url)
    with database.writing() as db:
        insert_oldest(db)
        db.execute(text("UPDATE jobs SET is_spent = 1, shares = '{\"m\": [1.0, 2.0]}'"))
        insert(db, "replies", {"key": b"k", "scope": b"s", "body": "{}", "kept_at": 8.0})
        insert(db, "model_checks", {"job_id": "j_old", "model": "m", "state": "checking", "until": 3.0})
    migrate(url)
    with database.reading() as db:
        assert db.execute(select(jobs.c.is_budget_exhausted, jobs.c.cost_ratios)).one() == (
            1,
            '{"m": [1.0, 2.0]}',
        )
        assert db.execute(select(replies.c.created_at)).scalar_one() == 8.0
        assert db.execute(select(model_checks.c.lease_until)).scalar_one() == 3.0
        assert db.execute(select(jobs.c.sealed_rows)).scalar_one() == 1, "what has ended is not sealed now"
    database.close()


@BOTH
def test_what_workers_of_before_had_leased_is_given_back(url: str) -> None:
    migrate(url, "0013", folder=OLDER_REVISIONS)
    with closing(AnyRevision(url)) as database, database.writing() as db:
        insert_oldest(db)
        db.execute(
            text("UPDATE trials SET state = 'leased', worker = 'w', lease_until = 9e9 WHERE arm = 'tools'")
        )
    migrate(url)
    store = Store(url)
    assert store.job("j_old").counts.running == 0
    assert len(store.lease("j_old", 0, worker="v", ttl_s=9.0)) == 1
    store.close()


@BOTH
def test_a_step_that_fails_leaves_everything_as_it_was(url: str, folder: Path) -> None:
    Store(url).close()
    planted = folder / "r9999_next.py"
    planted.write_text(planted.read_text().replace("\ndef downgrade", BROKEN + "\ndef downgrade"))
    with pytest.raises(RuntimeError, match="half way"):
        migrate(url, folder=folder)
    assert "colour" not in columns(url)
    Store(url).close()


def test_what_a_way_back_forgets_is_told(url: str) -> None:
    Store(url).close()
    assert lost_on_the_way(url, "head") == []
    assert [lost.split(",")[0] for lost in lost_on_the_way(url, "0018")] == ["Who posted"]


def test_a_revision_there_is_not_is_refused_by_name(url: str) -> None:
    with pytest.raises(SpecError, match=rf"'0x' is no revision.*{REVISION}"):
        migrate(url, "0x")


@BOTH
def test_tables_of_strangers_are_left_alone(url: str) -> None:
    database = AnyRevision(url)
    with database.writing() as db:
        db.execute(text("CREATE TABLE jobs (wages INTEGER)"))
    database.close()
    with pytest.raises(SpecError, match="not of this Gnomon"):
        Store(url)


@BOTH
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("DROP COLUMN tools_offered", "results lacks tools_offered"),
        ("ADD COLUMN colour TEXT NOT NULL", "results must not have colour"),
    ],
)
def test_a_table_of_results_that_holds_no_rows_of_ours_is_refused_by_column(
    store: Store, change: str, says: str
) -> None:
    is_sqlite = store.url.startswith("sqlite")
    with store.writing() as db:
        if "NOT NULL" in change and is_sqlite:  # which adds no such column to a table
            made = db.execute(text("SELECT sql FROM sqlite_master WHERE name = 'results'")).scalar_one()
            db.execute(text("DROP TABLE results"))
            db.execute(text(made.replace("(", "(colour TEXT NOT NULL, ", 1)))
        else:
            db.execute(text(f"ALTER TABLE results {change}"))
    with pytest.raises(SpecError, match=says):
        Store(store.url)


@BOTH
def test_a_database_without_its_results_is_refused_by_the_tables_name(store: Store) -> None:
    with store.writing() as db:
        db.execute(text("DROP TABLE results"))
    with pytest.raises(SpecError, match="lacks the table results"):
        Store(store.url)


@BOTH
def test_a_column_that_results_can_be_written_without_is_left_alone(store: Store) -> None:
    with store.writing() as db:
        db.execute(text("ALTER TABLE results ADD COLUMN colour TEXT"))
        db.execute(text("ALTER TABLE results ADD COLUMN size INTEGER NOT NULL DEFAULT 0"))
    again = Store(store.url)
    job = create(again)
    [lease, *_] = again.lease(job.id, 0, worker="w", ttl_s=9.0)
    row = make_row(lease)
    assert again.finish([(lease, row, TRACE)]) == set()
    assert again.trial(row.trial_id).row == row
    again.close()


@BOTH
def test_a_database_of_another_revision_is_refused(store: Store) -> None:
    with store.writing() as db:
        db.execute(update(alembic_version).values(version_num="9000"))
    with pytest.raises(SpecError, match="revision 9000"):
        Store(store.url)
    with pytest.raises(SpecError, match="'9000' is no revision"):
        migrate(store.url)


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "gnomon.db").write_text("no database")
    with pytest.raises(SpecError, match="the database does not open: DatabaseError"):
        migrate(f"sqlite:///{tmp_path / 'gnomon.db'}")
