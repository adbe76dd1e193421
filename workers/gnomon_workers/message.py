"""The message that travels through Redis, and the one thing that it can make a worker do."""

from collections.abc import Callable
from typing import Any

from rq.exceptions import DeserializationError, InvalidJobOperation
from rq.job import Job, JobStatus

SHARD_FUNCTION = "gnomon_workers.shard.run_shard"
EARLIER_NAME = "workers.shard.run_shard"  # in messages that were queued before packages had their names


class RefusedMessage(Exception):
    """What is on the queue is no shard of ours: it is dropped, and nothing it names is imported or called."""


class ShardMessage(Job):
    """An RQ job that can only be "run this shard of that job".

    RQ imports and calls any dotted name it finds in Redis, callbacks included: who can write to Redis could
    run code here. This class calls no name at all. It compares the name with SHARD_FUNCTION and hands the
    two ids to `runner`, which the worker sets.
    """

    runner: Callable[[str, int], None] | None = None

    def shard(self) -> tuple[str, int]:
        """The job's id and the shard's number.

        Raises:
            RefusedMessage: the message is anything else.
        """
        try:
            name, instance, args, kwargs = self.func_name, self.instance, self.args, self.kwargs
        except DeserializationError as error:
            raise RefusedMessage("the message is not JSON") from error
        is_shard = name in (SHARD_FUNCTION, EARLIER_NAME)
        if not is_shard or instance is not None or kwargs or not isinstance(args, list):
            raise RefusedMessage(f"the message asks for {name!r}; only {SHARD_FUNCTION!r} is run here")
        if [type(part) for part in args] != [str, int]:
            raise RefusedMessage("the message must name a job and a shard, and nothing else")
        return str(args[0]), int(args[1])

    def restore(self, raw_data: Any) -> Any:
        """Read the message, without the web hooks and repetitions it may ask for."""
        super().restore(raw_data)
        self.webhooks = []
        self.retries_left = self.repeats_left = None

    def get_status(self, refresh: bool = True) -> JobStatus:
        """The status in Redis; the last one known here where Redis has forgotten the message.

        A shard that a worker prepares for long is queued a second time, and the worker that takes it removes
        what Redis holds of both. RQ would take this for a failure of the shard.
        """
        try:
            return super().get_status(refresh)
        except InvalidJobOperation:
            return super().get_status(refresh=False)

    @property
    def func(self) -> None:
        """Nothing is ever looked up by name."""
        return

    @property
    def success_callback(self) -> None:
        """None, whatever the message names."""
        return

    @property
    def failure_callback(self) -> None:
        """None, whatever the message names."""
        return

    @property
    def stopped_callback(self) -> None:
        """None, whatever the message names."""
        return

    def perform(self) -> None:
        """Run the shard.

        Raises:
            RefusedMessage: the message is no shard, or this process runs none.
        """
        job_id, shard = self.shard()
        if self.runner is None:
            raise RefusedMessage("this process runs no shards")
        self.connection.persist(self.key)  # what runs does not run out
        self.runner(job_id, shard)
