"""Redis loses its primary, or its memory, in the middle of a job: no trial is lost and none doubled."""

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnomon.core.errors import SpecError
from gnomon_workers.redis_url import async_redis_at, read_sentinel_url, redis_at
from gnomon_workers.store import JobRecord, Store
from tests.workers.chaos import count
from tests.workers.conftest import QUICK, Plant, wait_until
from tests.workers.sentinel import Replicated, replicated
from tests.workers.warm_supervisor import WarmSupervisor

SLOW = {"id": "scripted", "options": {"replies": ["A"], "delay_s": 0.1}}


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Replicated]:
    (tmp_path / "redis").mkdir()
    with replicated(tmp_path / "redis", is_watched=False) as servers:
        yield servers


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Replicated]:
    (tmp_path / "redis").mkdir()
    with replicated(tmp_path / "redis") as servers:
        yield servers


async def role_and_echo(url: str) -> tuple[str, bytes | None]:
    """What kind of server a client on a loop reaches, and what it reads there after it has written."""
    client = async_redis_at(url)
    try:
        await client.set("key", "1")
        return (await client.info("replication"))["role"], await client.get("key")
    finally:
        await client.aclose()


def assert_whole(store: Store, job: JobRecord) -> None:
    damage = count("failover", list(store.iter_rows(job.id)), store.job(job.id), 0.0)
    assert (job.status, damage.lost, damage.duplicated, damage.missing) == ("completed", 0, 0, 0)


def test_a_replica_that_lacks_the_last_writes_takes_over_and_no_trial_is_lost(
    watched: Replicated, real_store: Store, tmp_path: Path
) -> None:
    with redis_at(watched.url) as redis, WarmSupervisor() as supervisor:
        plant = Plant(real_store, redis, watched.url, tmp_path, supervisor, QUICK)
        plant.start(2)
        first = plant.post(24, models=[SLOW], concurrency=8)
        wait_until(lambda: real_store.job(first.id).counts.done > 8)
        asyncio.run(role_and_echo(watched.url))
        watched.signal(signal.SIGSTOP, "replica")
        second = plant.post(8, models=[SLOW], concurrency=8)  # the replica never hears of it
        watched.signal(signal.SIGKILL, "primary")
        watched.signal(signal.SIGCONT, "replica")
        ended = [plant.end_of(job) for job in (first, second)]
        assert watched.primary_port() == watched.ports["replica"]
        assert asyncio.run(role_and_echo(watched.url)) == ("master", b"1")  # as a limiter's client sees it
    for job in ended:
        assert_whole(real_store, job)


def test_a_client_by_one_address_leaves_a_server_that_takes_no_writes_any_more(servers: Replicated) -> None:
    with redis_at(servers.url_of("primary")) as old, redis_at(servers.url_of("replica")) as new:
        old.set("key", "1")
        connection = old.connection_pool.get_connection()
        old.connection_pool.release(connection)
        new.replicaof("NO", "ONE")
        old.replicaof("127.0.0.1", servers.ports["replica"])  # type: ignore[arg-type]
        # The name of a managed Redis would lead to the new primary by now: it is looked up again.
        connection.port = servers.ports["replica"]
        assert old.set("key", "2")
        assert new.get("key") == b"2"


def test_redis_without_a_disk_is_restarted_in_the_middle_of_a_job(
    servers: Replicated, real_store: Store, tmp_path: Path
) -> None:
    with redis_at(servers.url_of("primary")) as redis, WarmSupervisor() as supervisor:
        plant = Plant(real_store, redis, servers.url_of("primary"), tmp_path, supervisor, QUICK)
        plant.start(2)
        job = plant.post(24, models=[SLOW], concurrency=8)
        wait_until(lambda: real_store.job(job.id).counts.done > 8)
        servers.signal(signal.SIGKILL, "primary")
        servers.processes["primary"].wait()
        servers.start("primary")
        ended = plant.end_of(job)
    assert_whole(real_store, ended)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("sentinel://host:1", "the service is missing"),
        ("sentinel://host:1/queue/first", "number of a database"),
        ("sentinel://host:1,/queue", "has no name"),
        ("sentinel://:s3cret@host/queue?pasword=x", "an option is unknown"),
    ],
)
def test_a_url_of_sentinels_that_cannot_be_read_is_refused_without_its_password(
    url: str, message: str
) -> None:
    with pytest.raises(SpecError, match=message) as refused:
        redis_at(url)
    assert refused.value.field == "GNOMON_REDIS_URL"
    assert "s3cret" not in str(refused.value)


def test_tls_and_passwords_of_both_are_read() -> None:
    address = read_sentinel_url("rediss+sentinel://u:p%40@[::1]:7,b/q?sentinel_password=s")
    assert address is not None
    assert address.sentinels == (("::1", 7), ("b", 26_379))
    assert address.server == {"db": 0, "username": "u", "password": "p@", "ssl": True}
    assert (address.sentinel["password"], address.sentinel["ssl"]) == ("s", True)
