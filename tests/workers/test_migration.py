"""Revisions of the tables: forward, back, and never half way."""

import shutil
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text, update

from gnomon.core.errors import SpecError
from tests.workers.conftest import BOTH, TRACE, create, make_row
from workers.store import Store
from workers.store.database import Database
from workers.store.migration import REVISIONS, migrate
from workers.store.schema import REVISION, alembic_version, metadata

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
BROKEN = '    raise RuntimeError("half way")\n'


class AnyRevision(Database):
    def _prepare(self) -> None:
        pass


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Our revisions and a planted one after them."""
    folder = tmp_path / "revisions"
    shutil.copytree(REVISIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "r9999_next.py").write_text(NEXT.format(last=REVISION))
    return folder


def columns(url: str) -> set[str]:
    database = AnyRevision(url)
    with database.reading() as db:
        found = {column["name"] for column in inspect(db).get_columns("jobs")}
    database.close()
    return found


@BOTH
def test_the_revisions_lead_to_the_tables_that_the_store_uses(url: str) -> None:
    assert migrate(url) == (None, REVISION)
    store = Store(url)
    with store.reading() as db:
        assert compare_metadata(MigrationContext.configure(db), metadata) == []
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


@BOTH
def test_a_step_that_fails_leaves_everything_as_it_was(url: str, folder: Path) -> None:
    Store(url).close()
    planted = folder / "r9999_next.py"
    planted.write_text(planted.read_text().replace("\ndef downgrade", BROKEN + "\ndef downgrade"))
    with pytest.raises(RuntimeError, match="half way"):
        migrate(url, folder=folder)
    assert "colour" not in columns(url)
    Store(url).close()


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
