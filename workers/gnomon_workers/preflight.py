"""Calls each model before its first trial, to stop those that cannot work and report those that are unfit.

One call with a few words; where arms offer tools, a call of one of them and its result back. A refused key,
a model that there is not, a missing key variable, an exhausted account, a request that is refused as it is,
or an endpoint that cannot be reached stop the model: all its trials end as `infra_missing` with what the
provider said. Whatever else goes wrong is tried again, and then the job goes on. What the replies show of the
endpoint is kept with the job.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from sqlalchemy.exc import SQLAlchemyError

from gnomon.core.errors import GnomonError, ModelFault, OutOfBudget, ProviderFault
from gnomon.core.message import ImageBlock
from gnomon.core.missing import advice_on
from gnomon.core.model import Model, Reply, Request, is_built_in
from gnomon.core.retry import PREFLIGHT_RETRY, RetryPolicy
from gnomon.fitness.examine import Examination
from gnomon.fitness.findings import judge
from gnomon.fitness.needs import needs_of_spec
from gnomon.fitness.table import Fitness
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_spec import ModelSpec
from gnomon_tools.core.plugin_code import contained
from gnomon_workers.budget.client import BudgetClient
from gnomon_workers.budget.usage import NO_USAGE, Usage
from gnomon_workers.store.database import in_words
from gnomon_workers.store.records import CheckState
from gnomon_workers.store.retry import retry_until_store_answers
from gnomon_workers.store.store import Store

UNKNOWN = ("pending", "checking")
LOOK_S = 1.0  # how often the process that calls looks whether the job still goes on
POLL_S = 0.2  # while another process makes the call
log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What came of a model's calls: its state, the last fault if any, and what they have cost; of the last
    call also its `reply`, or what it `raised`.
    """

    state: CheckState
    calls: int
    spent: Usage = NO_USAGE
    cause: str = ""
    error: str = ""
    reply: Reply | None = None
    raised: GnomonError | None = None

    def outcome(self) -> Reply:
        """The reply.

        Raises:
            GnomonError: what came in its place.
        """
        if self.reply is None:
            raise self.raised or ProviderFault(self.error, cause=self.cause)
        return self.reply

    def after(self, earlier: "Finding | None") -> "Finding":
        """The same, with what was found by the calls before it, of which the first decides on the state."""
        if earlier is None:
            return self
        return replace(earlier, calls=earlier.calls + self.calls, spent=earlier.spent.plus(self.spent))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wait:
    """What the call in flight asks for, and since when on this process' clock."""

    what: str
    since_s: float


async def ask(
    model: Model,
    request: Request,
    *,
    retry: RetryPolicy = PREFLIGHT_RETRY,
    so_far: Callable[[Finding], None] = lambda _: None,
) -> Finding:
    """Call the model, again where it fails in passing; not where its provider asks to wait for longer than
    all attempts may take, nor where it took as long as a call may. `so_far` is called as each call begins:
    this may be broken off.
    """
    last, until_s = Finding(state="unconfirmed", calls=0), time.monotonic() + retry.total_wait_s
    for calls in range(1, retry.max_attempts + 1):
        so_far(replace(last, calls=calls))
        try:
            with contained():
                reply = await model.reply(request)
        except ModelFault as fault:
            spent = NO_USAGE if fault.reply is None else Usage.by(fault.reply)
            return Finding(state="passed", calls=calls, spent=spent, raised=fault)
        except OutOfBudget as error:
            return Finding(
                state="unconfirmed", calls=calls - 1, cause="budget", error=str(error), raised=error
            )
        except ProviderFault as fault:
            is_final = not fault.transient or fault.cause == "connection"
            state: CheckState = "stopped" if is_final else "unconfirmed"
            last = Finding(state=state, calls=calls, cause=fault.cause, error=fault.message, raised=fault)
            if fault.cause == "timeout":
                break
            asked_s = retry.capped_s(fault.retry_after_s or 0.0)
            if not retry.may_retry(fault, calls) or time.monotonic() + asked_s > until_s:
                break
            await asyncio.sleep(max(retry.pause_s(calls), asked_s))
            continue
        return Finding(state="passed", calls=calls, spent=Usage.by(reply), reply=reply)
    return last


class Preflight:
    """The preflights of one job: the process that comes first makes them, the others wait for the result."""

    def __init__(
        self,
        job_id: str,
        spec: JobSpec,
        models: Mapping[str, Model],
        *,
        store: Store,
        holder: str,
        ttl_s: float,
        budget: BudgetClient,
        is_wanted: Callable[[], bool],
        pictures_for: Callable[[ModelSpec], Sequence[ImageBlock]] = lambda _: (),
    ) -> None:
        """`models` by label, as they are paid; `is_wanted` says whether the job still goes on.
        `pictures_for` gives those that a model is asked about; none where it is shown none.
        """
        self._job_id, self._spec, self._models = job_id, spec, models
        self._pictures_for = pictures_for
        self._store, self._holder, self._ttl_s = store, holder, ttl_s
        self._budget, self._is_wanted, self._is_abandoned = budget, is_wanted, False
        self._so_far: dict[str, Finding] = {}
        self._waits: dict[str, _Wait] = {}

    async def run(self) -> None:
        """Return when the state of every model is known, or is not needed any more."""
        called = [model.label for model in self._spec.called_models.values() if not is_built_in(model.id)]
        if not called:
            return
        job = await self._from_store(self._store.job, self._job_id)
        if job is None:
            return
        checks = {check.model: check for check in job.checks}
        for label in called:
            if label in checks and checks[label].state == "stopped":  # what a dead worker held has come back
                fault = ProviderFault(checks[label].error, cause=checks[label].cause, transient=False)
                await self.stop(label, fault)
        is_open = (label for label in called if label not in checks or checks[label].state in UNKNOWN)
        if self._spec.preflight:
            await asyncio.gather(*(self._check(label) for label in is_open))

    def abandon(self) -> None:
        """Break off what is under way: this process ends, and another makes the calls."""
        self._is_abandoned = True

    async def stop(self, label: str, fault: ProviderFault) -> None:
        """Call that model no more: its provider refuses it for good. Without its judge the job fails."""
        log.warning("job %s: %s is not called any more: %s", self._job_id, label, fault)
        if self._spec.judge is not None and label == self._spec.judge.label:
            advice = advice_on(f"judge:{fault.cause}") or advice_on(f"provider:{fault.cause}")
            why = f"The judge {label}: {fault}. {advice}".strip()
            await self._from_store(self._store.fail, self._job_id, why)
            return
        await self._from_store(
            self._store.stop_model, self._job_id, label, cause=fault.cause, error=fault.message
        )

    async def _check(self, label: str) -> None:
        asking: asyncio.Task[tuple[Finding, Fitness | None]] | None = None
        try:
            while not self._gives_up():
                wait = self._waits.get(label)
                begun = await self._from_store(
                    self._store.begin_check,
                    self._job_id,
                    label,
                    holder=self._holder,
                    ttl_s=self._ttl_s,
                    asks_for=wait.what if wait else "",
                    asks_s=time.monotonic() - wait.since_s if wait else 0.0,
                )
                if begun is None:
                    return
                check, is_own = begun
                if check.state not in UNKNOWN:
                    return
                if not is_own:
                    await asyncio.sleep(POLL_S)
                    continue
                asking = asking or asyncio.create_task(self._ask(label))
                await asyncio.wait([asking], timeout=min(LOOK_S, self._ttl_s / 4))
                if asking.done():
                    await self._note(label, *asking.result())
                    return
            if asking is not None:  # the next process that opens this job finds what was heard
                await self._note(label, replace(self._known(label), state="pending"))
        finally:
            if asking is not None:
                asking.cancel()

    async def _ask(self, label: str) -> tuple[Finding, Fitness | None]:
        try:
            model = self._spec.model(label)
            pictures = await asyncio.to_thread(self._pictures_for, model)
            needs = replace(needs_of_spec(self._spec, model), pictures=bool(pictures))
            examination = Examination(partial(self._call, label), needs, says=partial(self._wait_for, label))
            heard = await examination.briefly(pictures)
            return self._so_far[label], judge(heard, needs, model=label, is_whole=False)
        except Exception as error:  # a fault of ours must not keep the job from running
            log.exception("job %s: the preflight of %s broke", self._job_id, label)
            return replace(self._known(label), cause=type(error).__name__, error=str(error)), None

    def _wait_for(self, label: str, what: str) -> None:
        self._waits[label] = _Wait(what=what, since_s=time.monotonic())

    async def _call(self, label: str, request: Request) -> Reply:
        """One call of an examination, tried again where it fails in passing.

        Raises:
            GnomonError: what it ended with in place of a reply.
        """
        earlier = self._so_far.get(label)

        def keep(finding: Finding) -> None:
            self._so_far[label] = finding.after(earlier)

        finding = await ask(self._models[label], request, so_far=keep)
        keep(finding)
        return finding.outcome()

    async def _note(self, label: str, finding: Finding, fitness: Fitness | None = None) -> None:
        if finding.error:
            log.warning("job %s: preflight of %s: %s: %s", self._job_id, label, finding.cause, finding.error)
        fault = ProviderFault(finding.error, cause=finding.cause, transient=False)
        await self._from_store(
            self._store.end_check,
            self._job_id,
            label,
            holder=self._holder,
            state=finding.state,
            calls=finding.calls,
            spent=finding.spent,
            cause=finding.cause,
            error=finding.error,
            fitness=fitness,
        )
        self._budget.mark_recorded([finding.spent])
        if finding.state == "stopped":
            await self.stop(label, fault)

    def _known(self, label: str) -> Finding:
        return replace(self._so_far.get(label, Finding(state="pending", calls=0)), state="unconfirmed")

    def _gives_up(self) -> bool:
        return self._is_abandoned or not self._is_wanted()

    async def _from_store(self, ask_store: Callable[..., T], *args: object, **options: object) -> T | None:
        """What the store answers, however long it is away; None where it never will, or the process ends."""
        ask = partial(asyncio.to_thread, ask_store, *args, **options)
        try:
            return await retry_until_store_answers(
                ask, what=f"job {self._job_id}: preflight", gives_up=self._gives_up
            )
        except SQLAlchemyError as error:
            log.warning("job %s: its preflight is not written down: %s", self._job_id, in_words(error))
            return None
