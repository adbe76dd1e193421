"""Results on their way to the store: no error on the way loses one, or counts one twice."""

import asyncio

from gnomon_workers.budget.usage import Usage
from gnomon_workers.result_writer import ResultWriter
from gnomon_workers.store import Store
from tests.workers.conftest import TRACE, create, make_row


async def test_an_error_that_nobody_foresaw_loses_no_result_and_stops_no_writing(
    store: Store,
) -> None:
    job, finish, told = create(store, 1), store.finish, list[Usage]()
    failures = iter([RuntimeError("unheard of"), OverflowError("too large")])

    def fails_twice(ended: object) -> set[str]:
        if (failure := next(failures, None)) is not None:
            raise failure
        return finish(ended)  # type: ignore[arg-type]

    store.finish = fails_twice  # type: ignore[assignment,method-assign]
    outbox = ResultWriter(store, flush_s=0.01, after=told.extend)
    writing = asyncio.create_task(outbox.flush_periodically())
    for shard in range(job.shards):
        for lease in store.lease(job.id, shard, worker="w", ttl_s=10.0):
            outbox.add((lease, make_row(lease), TRACE))
    async with asyncio.timeout(20):
        while not await outbox.flush():
            pass
    assert not writing.done()
    writing.cancel()
    assert len(told) == 2
