"""Faults: what can be done to a scene while a job runs."""

import errno
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from gnomon_workers.store.sqlite import library
from tests.workers.conftest import wait_until
from tests.workers.scene import Scene

Inject = Callable[[Scene], None]
HOUR_S = 3_600.0
EIO_FLAG = "disk-fails"


def kill(*kinds: str, number: int = signal.SIGKILL) -> Inject:
    return lambda scene: scene.signal(number, *kinds) and None


def stop(*kinds: str) -> Inject:
    """Let it stand still for two leases, and then go on as if nothing had been."""
    return lambda scene: scene.stop_for_leases(2, *kinds)


def kill_redis(damage: Callable[[Path], None]) -> Inject:
    """Kill Redis and damage what it had written, before it is started again."""

    def inject(scene: Scene) -> None:
        scene.signal(signal.SIGKILL, "redis")
        for file in scene.server.folder.rglob("appendonly*.aof"):
            damage(file)

    return inject


def cut_tail(file: Path) -> None:
    os.truncate(file, max(0, file.stat().st_size - 7))


def overwrite_middle(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 40] = b"?" * min(40, len(data) - len(data) // 2)
    file.write_bytes(data)


def lock_sqlite(scene: Scene) -> None:
    """Another process writes to the file for longer than a lease lasts."""
    raw = library().connect(scene.store.url.removeprefix("sqlite:///"), timeout=60)
    raw.execute("BEGIN IMMEDIATE")
    scene.sleep_leases(1.5)
    raw.close()


def restart_postgres(scene: Scene) -> None:
    assert scene.postgres is not None
    scene.postgres.stop()
    time.sleep(scene.rng.uniform(0.0, 1.0))
    scene.postgres.start()


def cut_connections(scene: Scene) -> None:
    assert scene.postgres is not None
    scene.postgres.cut_connections()


def fail_over(scene: Scene) -> None:
    """A replica of PostgreSQL follows for a lease, and takes over when the server dies."""
    assert scene.postgres is not None
    scene.postgres.fail_over(lambda: scene.sleep_leases(1))


def fail_over_late(scene: Scene) -> None:
    """A replica of PostgreSQL that lacks the last half second takes over when the server dies."""
    assert scene.postgres is not None
    scene.postgres.fail_over(lambda: None, lacks_s=0.5)


def only_read(scene: Scene) -> None:
    """For two leases PostgreSQL takes no writes, as a replica, or one whose disk its owner finds too full."""
    assert scene.postgres is not None
    for is_on in ("on", "off"):
        with scene.postgres.connect() as db:
            db.execute("SET default_transaction_read_only = off")
            db.execute(f"ALTER DATABASE postgres SET default_transaction_read_only = {is_on}")
        scene.postgres.cut_connections()  # sessions keep what they began with
        if is_on == "on":
            scene.sleep_leases(2)


def lose_answers(scene: Scene) -> None:
    """Of all commits by any process 5 % are reported as failed: half of them have been done all the same."""
    scene.breakage.set(lost_answers=0.05)
    scene.sleep_leases(2)
    scene.breakage.set(lost_answers=0.0)


def jump(seconds: float) -> Inject:
    return lambda scene: scene.breakage.set(clock_jump_s=scene.breakage.get("clock_jump_s") + seconds)


def jump_to_and_fro(scene: Scene) -> None:
    """Five hours on, and a lease later ten hours back."""
    jump(5 * HOUR_S)(scene)
    scene.sleep_leases(1)
    jump(-10 * HOUR_S)(scene)


def evict_keys(scene: Scene) -> None:
    """For two leases Redis has no room for a key more, and throws away whatever it has, of any kind."""
    used = scene.redis.info("memory")["used_memory"]
    scene.redis.config_set("maxmemory-policy", "allkeys-random")
    scene.redis.config_set("maxmemory", used)
    scene.sleep_leases(2)
    scene.redis.config_set("maxmemory", 0)
    scene.redis.config_set("maxmemory-policy", "noeviction")


def fail_reads_and_writes(scene: Scene) -> None:
    """Whatever the workers write to the disk fails with EIO for two leases."""
    flag = scene.folder / EIO_FLAG
    flag.touch()
    scene.sleep_leases(2)
    flag.unlink()


def set_back_and_kill(scene: Scene) -> None:
    """The leases of the dead end in an hour by the clock that was set back."""
    jump(-HOUR_S)(scene)
    scene.signal(signal.SIGKILL, "worker", "horse")


def fill_disk(scene: Scene) -> None:
    """Nothing can be written for two leases, neither by the database nor by Redis."""
    filler = scene.folder / "filler"
    with filler.open("wb", buffering=0) as file:
        fill(file)
        began_s = time.monotonic()
        wait_until(lambda: not scene.is_ready())
        while time.monotonic() < began_s + 2 * scene.lease_s:
            fill(file)  # what others have let go of
            time.sleep(0.01)
    filler.unlink()


def fill(file: IO[bytes]) -> None:
    """Write until the disk has no byte left."""
    try:
        while file.write(bytes(1 << 20)):
            pass
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise


ANYWHERE: dict[str, Inject] = {
    "shard process SIGKILL": kill("horse"),
    "worker SIGKILL": kill("worker"),
    "worker and shard process SIGKILL": kill("worker", "horse"),
    "supervisor SIGKILL": kill("supervisor"),
    "API SIGKILL": kill("api"),
    "sweeper SIGKILL": kill("sweeper"),
    "worker SIGTERM": kill("worker", number=signal.SIGTERM),
    "shard process SIGSTOP": stop("horse"),
    "worker SIGSTOP": stop("worker"),
    "worker and shard process SIGSTOP": stop("worker", "horse"),
    "supervisor SIGSTOP": stop("supervisor"),
    "API SIGSTOP": stop("api"),
    "Redis SIGKILL": kill("redis"),
    "Redis restarted": kill("redis", number=signal.SIGTERM),
    "Redis SIGSTOP": stop("redis"),
    "Redis evicting keys": evict_keys,
    "Redis flushed": lambda scene: scene.redis.flushall() and None,
    "Redis log cut off": kill_redis(cut_tail),
    "Redis log overwritten": kill_redis(overwrite_middle),
    "answers of commits lost": lose_answers,
}
ON_SQLITE: dict[str, Inject] = ANYWHERE | {
    "database locked": lock_sqlite,
    "disk full": fill_disk,
    "clock an hour on": jump(HOUR_S),
    "clock five hours on, then ten back": jump_to_and_fro,
    "clock an hour back, then worker and shard process SIGKILL": set_back_and_kill,
}
ON_POSTGRESQL: dict[str, Inject] = ANYWHERE | {
    "PostgreSQL restarted": restart_postgres,
    "PostgreSQL connections cut": cut_connections,
    "PostgreSQL can only be read": only_read,
    "PostgreSQL fails over to a replica": fail_over,
    "PostgreSQL fails over to a replica that lags": fail_over_late,
}


@contextmanager
def small_disk(megabytes: int) -> Iterator[Path | None]:
    """A disk that can be filled; None where this user may not mount one."""
    with tempfile.TemporaryDirectory(prefix="gnomon-disk-") as name:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "gnomon-test", name]
        if subprocess.run(mount, check=False, capture_output=True).returncode:
            yield None
            return
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", "--lazy", name], check=True)
