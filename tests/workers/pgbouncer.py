"""A real PgBouncer in front of a PostgreSQL, which it lends to its clients by transactions."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from tests.workers.postgresql import PATIENCE_S, PostgreSQL

PORT = 6432
POOL = 20  # connections to PostgreSQL, and no more
ABSENT = "pgbouncer is not installed (Debian: apt-get install pgbouncer)"


def find_pgbouncer() -> Path | None:
    """The program, where it is installed; distributions put it where only root looks."""
    found = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    return Path(found) if found else None


@dataclass
class PgBouncer:
    """The pooler of `server`; it listens on a socket in `folder`."""

    server: PostgreSQL
    folder: Path
    program: Path
    process: "subprocess.Popen[bytes]" = field(init=False)

    @property
    def url(self) -> str:
        """Of the database, through the pooler."""
        return f"postgresql://postgres@/postgres?host={self.folder}&port={PORT}"

    def emptied(self) -> str:
        """The URL of the database when nothing is left in it."""
        self.server.emptied()
        return self._with_new_connections()

    def cleared(self) -> str:
        """The same, but the store's tables are there, and empty."""
        self.server.cleared()
        return self._with_new_connections()

    def _with_new_connections(self) -> str:
        """The URL, when the pooler lends no connection any more that the server has cut."""
        with self.console() as cursor:
            cursor.execute("RECONNECT postgres")
        return self.url

    def start(self) -> None:
        # The program refuses to run as root.
        user: dict[str, Any] = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        self.process = subprocess.Popen(
            [self.program, "--quiet", self.folder / "pgbouncer.ini"],
            stderr=subprocess.DEVNULL,
            **(user if os.geteuid() == 0 else {}),
        )
        until_s = time.monotonic() + PATIENCE_S
        while True:
            try:
                return self.connect(self.url).close()
            except psycopg.OperationalError:
                assert time.monotonic() < until_s, (self.folder / "log").read_text()
                time.sleep(0.05)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE_S)
        (self.folder / f".s.PGSQL.{PORT}").unlink(missing_ok=True)

    def connect(self, url: str) -> psycopg.Connection[Any]:
        return psycopg.connect(url, autocommit=True, prepare_threshold=None)

    @contextmanager
    def console(self) -> Iterator[psycopg.ClientCursor[dict[str, Any]]]:
        """Where it takes commands of its own."""
        console = self.url.replace("/postgres?", "/pgbouncer?")
        with self.connect(console) as db, psycopg.ClientCursor(db, row_factory=dict_row) as cursor:
            yield cursor

    def pools(self) -> dict[str, int]:
        """How many connections clients have (`cl_…`) and the server has (`sv_…`), by what they do."""
        with self.console() as cursor:
            rows = cursor.execute("SHOW POOLS").fetchall()
        pools = [row for row in rows if row["database"] == "postgres"]
        return {
            name: sum(row[name] for row in pools)
            for name in ("cl_active", "cl_waiting", "sv_active", "sv_idle", "sv_used", "sv_login")
        }


@contextmanager
def pooling(server: PostgreSQL, *, pool: int = POOL, max_clients: int = 5_000) -> Iterator[PgBouncer]:
    """Start a pooler with `pool` connections to the server."""
    program = find_pgbouncer()
    assert program is not None, ABSENT
    with tempfile.TemporaryDirectory(prefix="gnomon-pool-") as name:
        folder = Path(name)
        (folder / "pgbouncer.ini").write_text(
            "[databases]\n"
            f"postgres = host={server.folder} port={server.port} user=postgres pool_size={pool}\n"
            "[pgbouncer]\n"
            f"unix_socket_dir = {folder}\nlisten_port = {PORT}\nlogfile = {folder}/log\n"
            "auth_type = any\nadmin_users = postgres\npool_mode = transaction\n"
            f"max_client_conn = {max_clients}\nserver_login_retry = 1\nlisten_backlog = 1024\n"
        )
        if os.geteuid() == 0:
            shutil.chown(folder, "nobody")
        pooler = PgBouncer(server, folder, program)
        pooler.start()
        try:
            yield pooler
        finally:
            pooler.kill()
