"""Calls each model once, with a few words, before its first trial, so that what cannot work ends at once.

A refused key, a model that there is not, a missing key variable, an exhausted account, a request that is
refused as it is, or an endpoint that cannot be reached stop the model: all its trials end as `infra_missing`
with what the provider said. Whatever else goes wrong is tried again, and then the job goes on.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from sqlalchemy.exc import SQLAlchemyError

from gnomon.core.agent import CallsInWords, agent_of
from gnomon.core.arm import Arm
from gnomon.core.errors import ModelFault, OutOfBudget, ProviderFault
from gnomon.core.model import Model, Request, is_built_in
from gnomon.core.retry import PREFLIGHT_RETRY, RetryPolicy
from gnomon.spec.job_spec import JobSpec
from tools.core.plugin_code import contained
from workers.budget.client import BudgetClient
from workers.store.budgets import ZERO_USAGE
from workers.store.database import in_words
from workers.store.job_counters import Usage
from workers.store.records import CheckState
from workers.store.retry import retry_until_store_answers
from workers.store.store import Store

PROMPT = "This is a connection test. Reply with the word OK."
PATIENCE_S = PREFLIGHT_RETRY.total_wait_s  # for all attempts of one model
UNKNOWN = ("pending", "checking")
LOOK_S = 1.0  # how often the process that calls looks whether the job still goes on
POLL_S = 0.2  # while another process makes the call
log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What came of a model's preflight: its state, the last fault if any, and what the calls have cost."""

    state: CheckState
    calls: int
    spent: Usage = ZERO_USAGE
    cause: str = ""
    error: str = ""


def preflight_request(spec: JobSpec) -> Request:
    """The call: a few words, drawn as the trials are, with one tool where some arm offers tools."""
    arms = spec.arms
    tools = [tool for arm in arms if _sends_schemas(arm) for tool in spec.toolset(arm)]
    return Request(
        messages=[{"role": "user", "content": PROMPT}],
        tools=[tool.schema() for tool in tools[:1]],
        timeout_s=PATIENCE_S,
        decoding=spec.decoding_of(next(iter(spec.decoding or ()), "")),
    )


def _sends_schemas(arm: Arm) -> bool:
    """Whether the model of the arm is sent schemas: not by agents from outside or that call in words."""
    agent = None if arm.outside else agent_of(arm)
    return agent is not None and not (isinstance(agent, CallsInWords) and agent.calls_in_words)


async def ask(
    model: Model,
    request: Request,
    *,
    retry: RetryPolicy = PREFLIGHT_RETRY,
    so_far: Callable[[Finding], None] = lambda _: None,
) -> Finding:
    """Call the model, again where it fails in passing; not where its provider asks to wait for longer than
    all attempts may take. `so_far` is called as each call begins: this may be broken off.
    """
    last, until_s = Finding(state="unconfirmed", calls=0), time.monotonic() + retry.total_wait_s
    for calls in range(1, retry.max_attempts + 1):
        so_far(replace(last, calls=calls))
        try:
            with contained():
                reply = await model.reply(request)
        except ModelFault as fault:
            paid = fault.reply
            return Finding(state="passed", calls=calls, spent=ZERO_USAGE if paid is None else Usage.by(paid))
        except OutOfBudget as error:
            return Finding(state="unconfirmed", calls=calls - 1, cause="budget", error=str(error))
        except ProviderFault as fault:
            is_final = not fault.transient or fault.cause == "connection"
            state: CheckState = "stopped" if is_final else "unconfirmed"
            last = Finding(state=state, calls=calls, cause=fault.cause, error=fault.message)
            asked_s = retry.capped_s(fault.retry_after_s or 0.0)
            if not retry.may_retry(fault, calls) or time.monotonic() + asked_s > until_s:
                break
            await asyncio.sleep(max(retry.pause_s(calls), asked_s))
            continue
        return Finding(state="passed", calls=calls, spent=Usage.by(reply))
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
    ) -> None:
        """`models` by label, as they are paid; `is_wanted` says whether the job still goes on."""
        self._job_id, self._spec, self._models = job_id, spec, models
        self._store, self._holder, self._ttl_s = store, holder, ttl_s
        self._budget, self._is_wanted, self._is_abandoned = budget, is_wanted, False
        self._request = preflight_request(spec)
        self._so_far: dict[str, Finding] = {}

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
            await self._from_store(self._store.fail, self._job_id, f"the judge {label}: {fault}")
            return
        await self._from_store(
            self._store.stop_model, self._job_id, label, cause=fault.cause, error=fault.message
        )

    async def _check(self, label: str) -> None:
        asking: asyncio.Task[Finding] | None = None
        try:
            while not self._gives_up():
                begun = await self._from_store(
                    self._store.begin_check, self._job_id, label, holder=self._holder, ttl_s=self._ttl_s
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
                    await self._note(label, asking.result())
                    return
            if asking is not None:  # the next process that opens this job finds what was heard
                await self._note(label, replace(self._known(label), state="pending"))
        finally:
            if asking is not None:
                asking.cancel()

    async def _ask(self, label: str) -> Finding:
        try:
            async with asyncio.timeout(PATIENCE_S):
                keep = partial(self._so_far.__setitem__, label)
                return await ask(self._models[label], self._request, so_far=keep)
        except TimeoutError:
            finding = self._known(label)
            error = f"no reply within {PATIENCE_S:g} s"
            return finding if finding.cause else replace(finding, cause="timeout", error=error)
        except Exception as error:  # a fault of ours must not keep the job from running
            log.exception("job %s: the preflight of %s broke", self._job_id, label)
            return Finding(state="unconfirmed", calls=1, cause=type(error).__name__, error=str(error))

    async def _note(self, label: str, finding: Finding) -> None:
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
