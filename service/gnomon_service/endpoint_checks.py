"""Checks the endpoints of a posted spec in a process of its own, as this one loads no models."""

import asyncio
import json
import logging
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from gnomon.core.errors import GnomonError, Unavailable
from gnomon.parent_death import die_with_parent
from gnomon_service.jobs import Draft
from gnomon_service.local_stack import worker_env
from gnomon_service.settings import Settings
from gnomon_workers.process import module_command

MODULE = "gnomon_workers.endpoint_check"
MOST_S = 300.0  # that one check may take
LOOK_S = 0.5  # how often it is asked whether anybody still waits
log = logging.getLogger(__name__)


async def check_endpoints_of(
    draft: Draft, settings: Settings, *, is_gone: Callable[[], Awaitable[bool]]
) -> dict[str, Any]:
    """What the endpoints of a spec that may run are fit for, as `gnomon check --json` prints it.

    Raises:
        Unavailable: it took longer than MOST_S, or nobody waits for it any more.
        GnomonError: it ended without a result; the log says why.
    """
    process = await asyncio.create_subprocess_exec(
        *module_command(MODULE),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **worker_env(settings, settings.redis_url or "")},
        preexec_fn=die_with_parent(signal.SIGKILL),
    )
    talking = asyncio.create_task(process.communicate(draft.spec.model_dump_json().encode()))
    until_s = asyncio.get_running_loop().time() + MOST_S
    try:
        while not (await asyncio.wait([talking], timeout=LOOK_S))[0]:
            if asyncio.get_running_loop().time() > until_s:
                message = f"the endpoints were not checked within {MOST_S:g} s; `gnomon check` takes longer"
                raise Unavailable(message, field="models")
            if await is_gone():
                raise Unavailable("nobody waits for the check any more", field="models")
        out, errors = talking.result()
    finally:
        talking.cancel()
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    if process.returncode != 0:
        log.error(
            "a check of endpoints ended with %s: %s", process.returncode, errors.decode(errors="replace")
        )
        raise GnomonError("the check broke; the server's log says why", field="models")
    document: dict[str, Any] = json.loads(out)
    return document
