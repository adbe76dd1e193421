"""Lists the bounds of Gnomon for `docs/limits.md`, each value read from the module that holds to it."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from gnomon_service.api.places import AllPlaces, Places


class Bound(NamedTuple):
    """What is bounded, by which name of which module, in what unit, and what happens beyond."""

    what: str
    module: str
    name: str
    unit: str
    beyond: str


API, WEB, STORE = "gnomon_service.api", "gnomon_service", "gnomon_workers.store"
SERVERS, BENCH = "gnomon_tools.servers", "gnomon_workbench"
GROUPS: dict[str, tuple[Bound, ...]] = {
    "Requests": (
        Bound("a body", f"{API}.body_bounds", "SMALL.size", "bytes", "413 while it streams"),
        Bound("its values, counted by commas and brackets", f"{API}.body_bounds", "SMALL.values", "", "413"),
        Bound("its depth", f"{API}.body_bounds", "SMALL.depth", "levels", "422"),
        Bound("a body as YAML", f"{API}.request_body", "MAX_YAML_BYTES", "bytes", "413"),
        Bound("a batch", f"{API}.body_bounds", "BATCH.size", "bytes", "413 while it streams"),
        Bound("its values", f"{API}.body_bounds", "BATCH.values", "", "413"),
        Bound("its rows", f"{BENCH}.batch", "MAX_ROWS", "", "422"),
        Bound("a batch in the API's process", f"{BENCH}.pages.calls", "LARGE_BYTES", "bytes", "another one"),
        Bound("memory of that process", f"{BENCH}.batch", "MOST_MEMORY", "bytes", "413"),
        Bound("its time", f"{BENCH}.answer_apart", "MOST_S", "s", "503"),
        Bound("bodies in memory at a time", f"{API}.body_bounds", "MOST_KEPT", "bytes", "429"),
        Bound("a request's head", f"{WEB}.bounded_http", "HEAD_S", "s", "hung up on"),
        Bound("a request's body", f"{API}.middleware", "BODY_S", "s", "408"),
        Bound("connections", f"{WEB}.bounded_http", "MAX_CONNECTIONS", "", "the longest idle is closed"),
        Bound("requests a minute and key", f"{WEB}.settings", "MAX_PER_MINUTE", "", "429"),
        Bound("event streams a caller", f"{API}.state", "MAX_STREAMS", "", "429"),
        Bound("a wait for a place", f"{API}.places", "WAIT_S", "s", "429"),
        Bound("items of a page of a list", f"{API}.jobs", "MAX_LIMIT", "", "422"),
    ),
    "Jobs": (
        Bound("a spec", "gnomon.spec.spec_file", "MAX_SPEC_BYTES", "bytes", "422"),
        Bound("trials", "gnomon.spec.sample_rules", "MAX_TRIALS", "", "422"),
        Bound("trials made while a job is posted", f"{WEB}.jobs", "MOST_AT_ONCE", "", "`preparing`"),
        Bound("deaths with a trial in hand", f"{STORE}.leases", "MAX_ATTEMPTS", "", "`infra_missing`"),
        Bound("a lease, unless set", "gnomon_workers.settings", "Timing.lease_s", "s", "it is run again"),
        Bound("calls after a cancel", "gnomon_workers.settings", "Timing.cancel_s", "s", "broken off"),
        Bound("a checkpoint, deflated", "gnomon.trials.checkpoint", "MAX_STORED", "bytes", "the last stays"),
    ),
    "The store": (
        Bound("connections of a process, kept", f"{STORE}.sqlite", "POOL.pool_size", "", "more are opened"),
        Bound("more of them, for a while", f"{STORE}.sqlite", "POOL.max_overflow", "", "a wait, then 503"),
        Bound("that wait", f"{STORE}.sqlite", "POOL.pool_timeout", "s", "503"),
        Bound("a wait for SQLite's lock", f"{STORE}.sqlite", "BUSY_TIMEOUT_S", "s", "503"),
        Bound("room left on SQLite's disk", f"{STORE}.sqlite", "MIN_FREE_BYTES", "bytes", "no new job"),
    ),
    "Replies": (
        Bound("a reply's body", "gnomon_agents.models.http_client", "MAX_BODY_BYTES", "bytes", "a fault"),
        Bound("its text", "gnomon_agents.models.chat_format", "MAX_REPLY_CHARS", "characters", "cut"),
        Bound("its calls", "gnomon_agents.models.reply_bounds", "MAX_CALLS", "", "cut"),
        Bound("a call, unless set", "gnomon.core.model", "CALL_TIMEOUT_S", "s", "a fault"),
    ),
    "Files": (
        Bound("a picture", "gnomon_tools.core.open_picture", "MAX_PIXELS", "pixels", "refused from its head"),
        Bound("frames of a video", "gnomon.media.video", "MAX_FRAMES", "", "refused"),
        Bound("length of a video", "gnomon.media.video", "MAX_SECONDS", "s", "refused"),
        Bound("a row group of Parquet, unpacked", "gnomon.parquet_file", "MOST_UNPACKED", "bytes", "refused"),
        Bound("memory of the process for it", "gnomon.parquet_file", "MOST_MEMORY", "bytes", "refused"),
        Bound("rows of a Parquet file", "gnomon.media.clip_samples", "MAX_ROWS", "", "refused"),
        Bound("a member of a zip, unpacked", "gnomon.exchange.archive", "MOST_BYTES", "bytes", "refused"),
        Bound("the list of a zip's files", "gnomon.exchange.archive", "MOST_DIRECTORY", "bytes", "refused"),
        Bound("an upload", "gnomon.media.uploads", "MOST_BYTES", "bytes", "413 while it streams"),
        Bound("an upload, unpacked", "gnomon.media.uploads", "MOST_UNPACKED", "bytes", "refused"),
        Bound("files of an upload", "gnomon.media.uploads", "MOST_FILES", "", "refused"),
        Bound("time for an upload to arrive", f"{API}.body_bounds", "UPLOAD.seconds", "s", "408"),
        Bound("a document of JSON", "gnomon.exchange.json_lines", "MOST_DOCUMENT", "bytes", "refused"),
        Bound("a line of JSON or of rows", "gnomon.exchange.json_lines", "MOST_LINE", "bytes", "refused"),
        Bound("values of either", "gnomon.exchange.json_lines", "MOST_VALUES", "", "refused undecoded"),
        Bound("a sheet, unpacked", "gnomon.exchange.sheet", "MOST_BYTES", "bytes", "refused"),
        Bound("elements of its row", "gnomon.exchange.sheet", "MOST_HELD", "", "refused"),
    ),
    "Tools and agents": (
        Bound("a tool server's message", f"{SERVERS}.stdio", "MAX_MESSAGE_BYTES", "bytes", "stopped"),
        Bound("its answer by HTTP", f"{SERVERS}.bounded_http", "MAX_ANSWER_BYTES", "bytes", "a fault"),
        Bound("its listing", f"{SERVERS}.listing", "MAX_LISTING_BYTES", "bytes", "422"),
        Bound("asked of `gnomon mcp`", f"{BENCH}.mcp_server.serve", "MAX_REQUEST_BYTES", "bytes", "refused"),
        Bound("memory of code", "gnomon_agents.code_runtime.interpreter", "MEMORY_BYTES", "bytes", "ended"),
    ),
}  # fmt: skip


def value_of(bound: Bound) -> float:
    """Its value; a name may be a field or a key of what the module holds."""
    first, _, rest = bound.name.partition(".")
    held = getattr(import_module(bound.module), first)
    held = held() if isinstance(held, type) else held
    if rest:
        held = held[rest] if isinstance(held, dict) else attrgetter(rest)(held)
    return float(held)


def rows_of(group: str) -> list[tuple[str, str, str, str]]:
    """What is bounded, by how much, what happens beyond, and where it stands."""
    return [
        (
            bound.what,
            f"{value_of(bound):,.0f} {bound.unit}".strip(),
            bound.beyond,
            f"`{bound.module}.{bound.name}`",
        )
        for bound in GROUPS[group]
    ]


ROOT = Path(__file__).parents[1]
ROOMS = ("gnomon", "tools/*", "agents/*", "workers/*", "service/*", "packages/*/gnomon_*")
BEGINNINGS = ("MAX_", "MOST_")
SHORTENED = ("QUOTED", "SHOWN", "LISTED", "SAID", "KEPT", "NAMES", "NAMED", "OFFERED", "WORDS")  # texts
SHOWN = ("gnomon.report", "gnomon.drawing", "gnomon.reading", "gnomon.statistics")  # refuse nothing


def others() -> list[tuple[str, str]]:
    """Every other number that is named as a bound, with what the code says of it; not of what is shown."""
    listed = {(bound.module, bound.name) for group in GROUPS.values() for bound in group}
    rows = []
    for folder in (folder for room in ROOMS for folder in sorted(ROOT.glob(room)) if folder.is_dir()):
        for file in sorted(folder.rglob("*.py")):
            module = ".".join(file.relative_to(folder.parent).with_suffix("").parts)
            if module.startswith(SHOWN):
                continue
            bounds = [words for name, words in _named_bounds(file) if (module, name) not in listed]
            if bounds:
                rows.append((f"`{module}`", "; ".join(bounds)))
    return rows


def _named_bounds(file: Path) -> Iterator[tuple[str, str]]:
    text = file.read_text(encoding="utf-8")
    if not any(beginning in text for beginning in BEGINNINGS):
        return
    lines = text.splitlines()
    for statement in ast.parse(text).body:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
            continue
        name = statement.targets[0].id
        is_bound = name.startswith(BEGINNINGS) and not name.endswith(SHORTENED)
        value = _number(statement.value) if is_bound else None
        if value is not None:
            comment = re.split("[:;,]", lines[statement.lineno - 1].partition("  # ")[2])[0]
            yield name, f"`{name}` {value:,.10g}" + (f" ({comment})" if comment else "")


def _number(node: ast.expr) -> float | None:
    """The number that an expression of numbers gives; None for any other expression."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int | float) else None
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _number(node.left), _number(node.right)
    if left is None or right is None:
        return None
    if isinstance(node.op, ast.Mult):
        return left * right
    if isinstance(node.op, ast.Pow):
        return float(left**right)
    return float(int(left) << int(right)) if isinstance(node.op, ast.LShift) else None


def places() -> list[tuple[str, str, str]]:
    """Requests of a kind that are worked on at a time, and that may wait."""
    kinds = AllPlaces()
    each = [getattr(kinds, name) for name in AllPlaces.__slots__]
    rows = [(kind.kind, f"{kind.count:,}", f"{kind.queue:,}") for kind in each if isinstance(kind, Places)]
    return [*rows, ("pieces of downloads", f"{kinds.downloads.count:,}", "all others")]
