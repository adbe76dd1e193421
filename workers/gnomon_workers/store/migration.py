"""Moves a database to another revision of the tables, forward or back, in one transaction.

A new database gets today's tables at once and is marked with their revision. Alembic keeps the steps
between revisions (`revisions`) and the mark; it is imported only for a migration. A database of before the
first revision is brought over at once (`older_tables.py`).
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import Script, ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import update
from sqlalchemy.exc import DatabaseError, OperationalError

from gnomon.core.errors import SpecError
from gnomon_workers.store.database import AnyRevision, revision_of
from gnomon_workers.store.older_tables import OLDER, bring_over
from gnomon_workers.store.schema import alembic_version, metadata

REVISIONS = Path(__file__).parent / "revisions"
LAST = "head"


class _Migrated(AnyRevision):
    """A database that can be moved to another revision."""

    def migrate(self, script: ScriptDirectory, to: str) -> tuple[str | None, str]:
        with self.writing() as db:
            self._lock_tables(db)
            before, target = revision_of(db), _known(script, to, field="revision").revision
            context = MigrationContext.configure(db)
            with Operations.context(context) as operations:
                if before is None and target == script.get_current_head():
                    metadata.create_all(
                        db
                    )  # an empty database gets today's tables, whatever revisions led there
                    context.stamp(script, target)
                    return before, target
                if before in OLDER and target == script.get_current_head():
                    bring_over(db, operations)
                    db.execute(update(alembic_version).values(version_num=target))
                    return before, target
                for step, mark in _steps(script, before, target):
                    step()
                    context.stamp(script, mark)
        return before, target


def migrate(url: str, to: str = LAST, *, folder: Path = REVISIONS) -> tuple[str | None, str]:
    """Move the database at `url` to a revision; return the revision it had and the one it has.

    All steps are one transaction: a step that fails leaves everything as it was. Stop API and workers first.

    Raises:
        SpecError: the revision does not exist, the database was made by a newer Gnomon, or is none.
    """
    with _opened(url) as database:
        return database.migrate(ScriptDirectory(folder, version_locations=[folder]), to)


def way_of(url: str, to: str = LAST) -> tuple[str | None, str]:
    """The revision of the database at `url`, and the one to which `migrate` would move it.

    Raises:
        SpecError: the revision does not exist, or the database is none.
    """
    target = _known(ScriptDirectory(REVISIONS, version_locations=[REVISIONS]), to, field="revision")
    with _opened(url) as database, database.reading() as db:
        return revision_of(db), target.revision


def lost_on_the_way(url: str, to: str) -> list[str]:
    """What each step back from the revision of the database at `url` forgets; empty where none goes back."""
    script = ScriptDirectory(REVISIONS, version_locations=[REVISIONS])
    before, target = way_of(url, to)
    steps = [step for step, _ in _steps(script, before, target)]
    return [step.__doc__ or "" for step in steps if step.__name__ == "downgrade"]


@contextmanager
def _opened(url: str) -> Iterator[_Migrated]:
    with closing(_Migrated(url)) as database:
        try:
            with database.reading():  # once before: what is no database fails here, and no step is blamed
                pass
        except DatabaseError as error:
            if isinstance(error, OperationalError):
                raise
            message = f"the database does not open: {type(error).__name__}"
            raise SpecError(message, field="GNOMON_DATABASE_URL") from None
        yield database


def _known(script: ScriptDirectory, name: str, *, field: str) -> Script:
    """The revision of that name.

    Raises:
        SpecError: the revision does not exist.
    """
    try:
        step = script.get_revision(name)
    except CommandError:
        step = None
    if step is None:
        names = ", ".join(sorted(revision.revision for revision in script.walk_revisions()))
        raise SpecError(f"{name!r} is no revision of this Gnomon; allowed: {names}, head", field=field)
    return step


def _steps(script: ScriptDirectory, before: str | None, target: str) -> list[tuple[Callable[[], None], str]]:
    """What to run, and the mark after each, on the way from one revision to another."""
    chain = [step.revision for step in script.walk_revisions()][::-1]
    start = (
        -1 if before is None else chain.index(_known(script, before, field="GNOMON_DATABASE_URL").revision)
    )
    end = chain.index(target)
    if start <= end:
        return [(_known(script, name, field="").module.upgrade, name) for name in chain[start + 1 : end + 1]]
    back = range(start, end, -1)
    return [(_known(script, chain[at], field="").module.downgrade, chain[at - 1]) for at in back]
