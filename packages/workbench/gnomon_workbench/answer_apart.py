"""Has a large batch answered by a process of its own: decoded JSON takes many times its bytes, and nothing
else is answered while it is decoded.
"""

import asyncio
import json
import logging
import os
import signal
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO

from starlette.exceptions import HTTPException

from gnomon.core.errors import GnomonError, NotFound, SpecError
from gnomon.parent_death import die_with_parent
from gnomon_service.api.places import until_gone
from gnomon_workbench.batch import MOST_MEMORY, REFUSED, TOO_LARGE
from gnomon_workers.process import module_command

MOST_S = 120.0
MOST_SAID = 100_000  # bytes of an error
log = logging.getLogger(__name__)
PIECE = 1 << 20  # bytes of an answer that are in memory at a time
BY_NAME = {kind.__name__: kind for kind in (NotFound, SpecError)}


async def answer_apart(
    body: BinaryIO, name: str, kind: str, *, roots: Sequence[Path] | None, gone: asyncio.Event
) -> BinaryIO:
    """The answer to the batch in a file of JSON, which `pieces_of` sends; a process of its own makes it.

    Raises:
        NotFound, SpecError: as `batch_answer` does.
        HTTPException: 413, it needs more than MOST_MEMORY; 503, it takes longer than MOST_S.
        Unwanted: the client has `gone` meanwhile; the process is ended.
    """
    places = json.dumps(None if roots is None else [str(root) for root in roots])
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as errors:
        process = await asyncio.create_subprocess_exec(
            *module_command("gnomon_workbench.batch", name, kind, places),
            stdin=body,
            stdout=answer,
            stderr=errors,
            preexec_fn=die_with_parent(signal.SIGKILL),
        )
        try:
            code = await until_gone(process.wait(), gone, within_s=MOST_S)
        except TimeoutError:
            raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, f"not done in {MOST_S:g} s") from None
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        errors.seek(0)
        said = errors.read(MOST_SAID).decode(errors="replace")
        if code == REFUSED:
            error = json.loads(said.rpartition("\n")[2])  # a warning may stand before it
            raise BY_NAME.get(error["kind"], GnomonError)(error["message"], field=error["field"])
        if code in (TOO_LARGE, -signal.SIGKILL):
            detail = f"the batch needs more than {MOST_MEMORY:,} bytes of memory; send it in parts"
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)
        if code:
            log.error("a batch ended with %d: %s", code, said)
            raise GnomonError("the batch failed; the server's log has the details")
        kept = os.fdopen(os.dup(answer.fileno()), "rb")
        kept.seek(0)
        return kept


def pieces_of(file: BinaryIO) -> Iterator[bytes]:
    """The bytes of a file, which is closed after the last."""
    with file:
        while piece := file.read(PIECE):
            yield piece
