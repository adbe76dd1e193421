"""Answers a batch: a tool called for very many rows. Run as a process, it does so in bounded memory.

`python -m gnomon_workbench.batch NAME TYPE ROOTS` reads the batch as JSON and writes its answer of that media
type; what is wrong with it goes to standard error, as JSON.
"""

import gc
import json
import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

from gnomon.core.errors import GnomonError, SpecError
from gnomon_service.posted_json import json_body
from gnomon_workbench.tool_call import as_arrow_stream, as_json_columns, call_batch, parts_of

ARROW = "application/vnd.apache.arrow.stream"
MAX_ROWS = 1_000_000
MOST_MEMORY = 1_000_000_000  # bytes of data of the process
REFUSED, TOO_LARGE = 3, 4  # exit codes
BEHIND = 5  # by how much its priority is below that of who started it: other requests go first


def batch_answer(body: object, name: str, kind: str, *, roots: tuple[Path, ...] | None) -> Iterator[bytes]:
    """The answer to a batch, in pieces; `kind` is ARROW or JSON, `roots` are where scenes may lie.

    Raises:
        NotFound, SpecError: as `call_batch` does; a scene or a column is not allowed.
    """
    scene, args = parts_of(body, roots)
    if not isinstance(args, dict):
        raise SpecError("must be one JSON object of columns", field="args")
    for column, values in args.items():
        if isinstance(values, list) and len(values) > MAX_ROWS:
            detail = f"has {len(values):,} rows; up to {MAX_ROWS:,} at once"
            raise SpecError(detail, field=f"args.{column}")
    columns = call_batch(name, scene, args)
    if kind == ARROW:
        yield as_arrow_stream(columns)
        return
    between = b"{"
    for column, values in as_json_columns(columns).items():
        yield between + json.dumps({column: values}, allow_nan=False, separators=(",", ":")).encode()[1:-1]
        between = b","
    yield b"{}" if between == b"{" else b"}"


def main(name: str, kind: str, roots: str) -> int:
    """Answer the batch on standard input; `roots` is a JSON list of folders, or null."""
    os.nice(BEHIND)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    gc.disable()  # else it looks at millions of lists again and again
    folders = json.loads(roots)
    places = None if folders is None else tuple(map(Path, folders))
    try:
        body = json_body(sys.stdin.buffer.read())
        for piece in batch_answer(body, name, kind, roots=places):
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    except MemoryError:
        return TOO_LARGE
    except GnomonError as error:
        said = {"kind": type(error).__name__, "message": error.message, "field": error.field}
        sys.stderr.write(json.dumps(said))
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
