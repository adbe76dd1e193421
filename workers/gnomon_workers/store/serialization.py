"""Turns rows, traces, jobs and trials into columns and back."""

import functools
import json
import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from numbers import Integral, Real
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy import RowMapping

from gnomon.core.compact_json import compact_json, dump
from gnomon.core.missing import keepable
from gnomon.core.model import SLOW_S
from gnomon.core.redaction import redactor_here, without_folders
from gnomon.core.row import COLUMNS, ROW_COLUMNS, Row
from gnomon.core.sample import DataFault, SampleRef
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.trial_plan import Trial
from gnomon_workers.budget.usage import NO_USAGE, Usage
from gnomon_workers.store.records import Counts, JobRecord, ModelCheck, iso

if TYPE_CHECKING:
    from gnomon.core.row_batch import RowBatch

_BOUNDED = {c.name: (c.form.least, c.form.most) for c in ROW_COLUMNS if c.form.most is not None}
_FINITE = tuple(c.name for c in ROW_COLUMNS if c.kind == "fraction" and c.form.most is None)
_JSON = {c.name: "[]" if c.kind == "texts" else "{}" for c in ROW_COLUMNS if c.is_json}  # and the empty one
_PLAIN = (int, float, type(None))
_in_order = attrgetter(*COLUMNS)
_TEXTS = tuple(c.name for c in ROW_COLUMNS if c.kind == "texts")
_QUOTED = tuple(c.name for c in ROW_COLUMNS if c.form.is_quoted)
# By column and text: an enum's own look-up is five times slower.
_CHOICES: Mapping[str, Mapping[str | None, Any]] = {
    c.name: {
        **{member.value: member for member in c.type},
        **({None: None, "": None} if c.is_nullable else {}),
    }
    for c in ROW_COLUMNS
    if c.kind == "choice"
}
_REF = tuple(field.name for field in fields(SampleRef))


def row_values(row: Row) -> dict[str, Any]:
    """A row as the columns of `results`, with every secret of this process struck out of what a model said.

    Raises:
        ValueError: a number in it is not finite, or usage is negative or beyond reason.
    """
    values = dict(zip(COLUMNS, _in_order(row), strict=True))
    for name in _FINITE:  # a database may quietly keep NaN as NULL
        if values[name] is not None and not math.isfinite(values[name]):
            raise ValueError(f"{name} is {values[name]}")
    for name, (least, most) in _BOUNDED.items():
        value = values[name]
        if value is not None and not least <= value <= most:
            raise ValueError(f"{name} is {value}, not between {least:,.0f} and {most:,.0f}")
    for name, empty in _JSON.items():
        values[name] = dump(values[name]) if values[name] else empty
    for name in _CHOICES:
        values[name] = None if values[name] is None else values[name].value
    redactor = redactor_here()
    if not redactor.is_clean([values[name] for name in _QUOTED]):
        values.update({name: redactor.redact(values[name]) for name in _QUOTED if values[name]})
    if row.error:
        values["error"] = keepable(row.error)
    return values


def with_plain_numbers(row: Row) -> Row:
    """The row with Python's own numbers: a plug-in may count with NumPy's, which databases keep as bytes."""
    foreign: dict[str, Any] = {
        name: int(value) if isinstance(value, Integral) else float(value)
        for name in _BOUNDED
        if type(value := getattr(row, name)) not in _PLAIN and isinstance(value, Real)
    }
    return replace(row, **foreign) if foreign else row


def row_of(columns: RowMapping) -> Row:
    """The row in these columns."""
    return row_in_order([columns[name] for name in COLUMNS])


def row_in_order(in_order: Sequence[Any]) -> Row:
    """The row whose values these are, in the order of COLUMNS."""
    values = dict(zip(COLUMNS, in_order, strict=True))
    for name in _JSON:
        values[name] = _loaded(values[name])
    for name in _TEXTS:
        values[name] = tuple(values[name])
    for name, choices in _CHOICES.items():
        values[name] = choices[values[name]]
    return Row(**values)


def row_batch(job_id: str, columns: Sequence[Sequence[Any]]) -> "RowBatch":
    """The rows of a job in these columns, those of BATCH_COLUMNS as they are stored."""
    from gnomon.core.row_batch import RowBatch  # with NumPy, which a worker for text does without

    stored = dict(zip(BATCH_COLUMNS, columns, strict=True))

    return RowBatch({**stored, "job_id": (job_id,) * len(stored["trial_id"])}, _OWN)


@functools.lru_cache(maxsize=4096)
def _loaded(text: str) -> Any:
    """Most rows hold the same few texts; what is read is never changed."""
    return json.loads(text)


def _texts(text: str) -> tuple[str, ...]:
    return tuple(_loaded(text))


BATCH_COLUMNS = tuple(name for name in COLUMNS if name != "job_id")  # of one job, so it is known
_OWN: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_JSON, _loaded),
    **dict.fromkeys(_TEXTS, _texts),
    **{name: choices.__getitem__ for name, choices in _CHOICES.items()},
}


def job_values(spec: JobSpec, faults: Sequence[DataFault]) -> dict[str, Any]:
    """What a spec says of a new job, as columns of `jobs`."""
    return {
        "name": spec.name or spec.benchmark,
        "status": "queued",
        "spec": spec.model_dump_json(),
        "benchmark": spec.benchmark,
        "faults": fault_text(faults),
    }


def fault_text(faults: Iterable[DataFault]) -> str:
    """Faults of a job's data as its column holds them."""
    return dump([{**asdict(fault), "detail": without_folders(fault.detail)} for fault in faults])


def job_of(
    columns: RowMapping,
    *,
    checks: tuple[ModelCheck, ...] = (),
    quiet_s: float | None = None,
    is_decided: bool = False,
    held: Usage = NO_USAGE,
) -> JobRecord:
    """The job in these columns; processes have `held` so much of its limits beside what is counted."""
    return JobRecord(
        id=columns["id"],
        name=columns["name"],
        status=columns["status"],
        spec=JobSpec.model_validate_json(columns["spec"]),
        spec_hash=columns["spec_hash"],
        created_at=iso(columns["created_at"]) or "",
        started_at=iso(columns["started_at"]),
        finished_at=iso(columns["finished_at"]),
        counts=Counts(
            planned=columns["planned"],
            scored=columns["scored"],
            model_failed=columns["model_failed"],
            infra_missing=columns["infra_missing"],
            running=columns["leased"],
        ),
        usd=None if columns["unknown_usd"] else columns["known_usd"],
        tokens=None if columns["unknown_tokens"] else columns["known_tokens"],
        known_usd=columns["known_usd"],
        known_tokens=columns["known_tokens"],
        possible_usd=columns["possible_usd"] + held.known_usd,
        possible_tokens=columns["possible_tokens"] + held.known_tokens,
        shards=-(-columns["planned"] // (columns["shard_size"] or columns["planned"])),
        faults=tuple(DataFault(**fault) for fault in json.loads(columns["faults"])),
        error=columns["error"],
        checks=checks,
        posted_by=columns["posted_by"],
        owner=columns["owner"],
        quiet_s=quiet_s,
        is_decided=is_decided,
    )


def check_of(columns: RowMapping, *, at_s: float) -> ModelCheck:
    """What is known at that time of the job's model in these columns; a wait may be over."""
    own = ("asks_s", "fitness")
    values = {field.name: columns[field.name] for field in fields(ModelCheck) if field.name not in own}
    values["fitness"] = json.loads(columns["fitness"]) if columns["fitness"] else None
    is_asked = columns["state"] == "checking" and columns["asked_at"] is not None
    values["asks_s"] = round(max(0.0, at_s - columns["asked_at"]), 1) if is_asked else None
    values["asks_for"] = columns["asks_for"] if is_asked else ""
    if is_asked and values["asks_s"] >= SLOW_S:
        values["cause"], values["error"] = (
            "slow",
            f"no reply yet: {columns['asks_for']}, {values['asks_s']:.0f} s",
        )
    is_waiting = columns["waits_until"] is not None and columns["waits_until"] > at_s
    wait = {"waits_until": iso(columns["waits_until"]), "waits_for": columns["waits_for"]}
    return ModelCheck(**values | (wait if is_waiting else {"waits_until": None, "waits_for": ""}))


def trial_of(columns: RowMapping) -> Trial:
    """The trial in these columns."""
    return Trial(
        trial_id=columns["trial_id"],
        job_id=columns["job_id"],
        ref=SampleRef(**{name: columns[name] for name in _REF}),
        model=columns["model"],
        arm=columns["arm"],
        repeat=columns["repeat"],
    )


def trial_values(trial: Trial, *, ordinal: int, shard: int) -> dict[str, Any]:
    """A planned trial as the columns of `trials`."""
    values = trial.identity()
    values["ordinal"], values["shard"] = ordinal, shard
    values["state"], values["attempt"], values["token"] = "pending", 0, 0
    return values


def pack(trace: Mapping[str, Any]) -> bytes:
    """A trace as deflated JSON, with every secret of this process struck out.

    >>> unpack(pack({"steps": []}))
    {'steps': []}
    """
    return zlib.compress(redactor_here().redact(compact_json(trace)).encode())


def unpack(body: bytes) -> dict[str, Any]:
    """The trace again."""
    trace: dict[str, Any] = json.loads(zlib.decompress(body))
    return trace
