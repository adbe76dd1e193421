"""While the store takes nothing, no call is paid for; once it does, calls go on."""

import asyncio
import sqlite3
from pathlib import Path

from gnomon.core.model import Reply, Request
from gnomon_workers.heartbeat import Heartbeat
from gnomon_workers.paused_model import PausedModel
from gnomon_workers.settings import Timing
from gnomon_workers.store import Store
from tests.workers.conftest import create

REFUSES = "CREATE TRIGGER no BEFORE UPDATE ON lease_holders BEGIN SELECT RAISE(FAIL, 'disk I/O error'); END"


class Counted:
    """A model that counts its calls."""

    id = "openai/paid"

    def __init__(self) -> None:
        self.calls = 0

    async def reply(self, _: Request) -> Reply:
        self.calls += 1
        return Reply(text="A")

    async def close(self) -> None: ...


async def until(heartbeat: Heartbeat, *, can_write: bool) -> None:
    async with asyncio.timeout(20):
        while heartbeat.can_write != can_write:  # noqa: ASYNC110 (a thread sets it)
            await asyncio.sleep(0.02)


async def test_a_call_waits_until_its_reply_can_be_kept(real_store: Store, tmp_path: Path) -> None:
    job, counted = create(real_store), Counted()
    [lease] = real_store.lease(job.id, 0, worker="w", ttl_s=60.0, limit=1)
    timing, request = Timing(lease_s=4.0, watch_s=0.05), Request(messages=[], tools=[])
    database = Path(real_store.url.removeprefix("sqlite:///"))
    with Heartbeat(real_store, job_id=job.id, holder="w", timing=timing) as heartbeat:
        model = PausedModel(counted, heartbeat=heartbeat, look_s=0.02)
        await model.reply(request)
        with sqlite3.connect(database) as db:
            db.execute(REFUSES)
            db.commit()
            await until(heartbeat, can_write=False)
            waiting = asyncio.create_task(model.reply(request))
            await asyncio.sleep(0.2)
            assert counted.calls == 1
            db.execute("DROP TRIGGER no")
            db.commit()
            await until(heartbeat, can_write=True)
            await waiting
    assert counted.calls == 2
    real_store.release([lease])
