"""Prepares a job that was accepted without its trials: opens its data, makes the trials and queues them."""

import logging
from contextlib import closing
from typing import TYPE_CHECKING

from redis import RedisError
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from gnomon.core.errors import GnomonError, NoRoom, NotFound
from gnomon.spec.sample_rules import joined_samples
from gnomon.stopping import Unwanted
from gnomon_workers.heartbeat import Heartbeat
from gnomon_workers.queue import client_of, enqueue_shards

if TYPE_CHECKING:
    from gnomon_workers.shard import WorkerContext

log = logging.getLogger(__name__)


def prepare_job(job_id: str, *, context: "WorkerContext") -> None:
    """Make the job's trials, unless another worker does; one whose data cannot be read fails."""
    store, timing = context.store, context.timing
    holder = store.claim_preparation(job_id, worker=context.name, ttl_s=timing.lease_s)
    if holder is None:
        return
    error = ""
    with Heartbeat(store, job_id=job_id, holder=holder, timing=timing):
        try:
            opened = context.opener.open(job_id, store=store)
            spec, samples = opened.bench.spec, opened.samples
            refs, faults = joined_samples(spec, samples, samples.refs)
            store.prepare(job_id, holder, spec, refs, faults)
        except (NoRoom, Unwanted) as reason:
            log.warning("job %s is not prepared: %r", job_id, reason)
        except IntegrityError:
            error = "select: the benchmark names a sample twice"
        except SQLAlchemyError:
            raise  # the database is away: the claim runs out
        except Exception as fault:
            log.warning("job %s cannot be prepared", job_id, exc_info=not isinstance(fault, GnomonError))
            error = str(fault) or repr(fault)
    try:
        job = store.job(job_id)
    except NotFound:
        job = None  # deleted meanwhile
    if job is None or job.status != "queued":
        store.end_preparation(job_id, holder, error=error)
        return
    if context.redis_url is not None:
        try:
            with closing(client_of(context.redis_url)) as redis:
                enqueue_shards(redis, job, [shard for _, shard in store.unfinished_shards(job_id)])
        except RedisError as reason:
            log.warning("the shards of job %s are queued by the sweeper: %s", job_id, reason)
