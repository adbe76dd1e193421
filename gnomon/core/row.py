"""A finished trial as it is stored, counted and handed out, and what each of its columns may hold.

A field of `Row` is the one place where a column is declared. The table `results`, what is written to it and
read from it, and row files in every format are derived from `ROW_COLUMNS`.
"""

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from gnomon.core.reply_state import ReplyState
from gnomon.core.score import Outcome
from gnomon.core.trace import Trace

REPEATED_CALLS = "repeated_calls"  # flag: the trial made the same call again, to the letter
OVER_MAX_TOKENS = "over_max_tokens"  # flag: a reply was longer than its model's entry allows
ADAPTER = "adapter:"  # before the name of what a provider's adapter changed in a request: a flag
MAX_USD, MAX_TOKENS = 1e9, 10**12  # of one trial: more is no usage, and sums of it would not fit a column

ColumnKind = Literal["text", "integer", "fraction", "choice", "texts", "mapping"]
KINDS: Mapping[Any, ColumnKind] = {
    str: "text",
    int: "integer",
    float: "fraction",
    tuple[str, ...]: "texts",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What the type of a field does not say of its column; None: not bounded."""

    least: float | None = None
    most: float | None = None
    min_length: int | None = None  # characters, of a row file's column
    max_length: int | None = None
    sql_length: int | None = None  # characters that the table's column is made for
    is_large: bool = False  # an integer that may need 64 bits
    is_quoted: bool = False  # holds what a model or a provider said: secrets are redacted from it


@dataclass(frozen=True, slots=True)
class Filled:
    """How a column follows from the trace of a trial."""

    of: Callable[[Trace], Any]


Id = Annotated[str, Form(sql_length=40)]
Count = Annotated[int, Form(least=0)]
Tokens = Annotated[int, Form(least=0, most=MAX_TOKENS, is_large=True)]
Dollars = Annotated[float, Form(least=0, most=MAX_USD)]
Moment = Annotated[str, Form(sql_length=32)]
Quoted = Form(is_quoted=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One result. `usd` and the token counts are None where unknown; `score` is None only when missing.

    A column that older databases and row files lack has a default here, and one that follows from the trace
    says how. The text below a field is what docs/exchange.md says of the column.
    """

    job_id: Id
    """Id of the job."""
    trial_id: Id
    """Id of the trial."""
    benchmark: str
    """Name of the benchmark."""
    task: str
    """Task of the sample."""
    cell: str
    """Group of samples that the primary metric weights equally: the task, or task and scene."""
    sample_id: Annotated[str, Form(min_length=1)]
    """Id of the sample; samples are paired by it."""
    cluster: str
    """What related samples share (a clip, a scene): the unit that intervals resample.
    Of several factors a JSON list of a name by each.
    """
    model: Annotated[str, Form(min_length=1)]
    """Label of the model in the spec."""
    arm: Annotated[str, Form(min_length=1, max_length=80)]
    """Name of the arm."""
    repeat: Count
    """Number of the repeat, from 0."""
    outcome: Annotated[Outcome, Form(sql_length=16)]
    """How the trial ended."""
    stop_reason: Annotated[str, Quoted]
    """Why it ended: `answered`, a reached limit, or the cause of a fault."""
    score: Annotated[float, Form(least=0, most=1)] | None
    """The score; null: missing."""
    metrics: Annotated[Mapping[str, float | str | None], Quoted] = field(default_factory=dict)
    """Other numbers and texts of the scorer."""
    answer: Annotated[str | None, Quoted] = None
    """The parsed answer."""
    flags: Annotated[tuple[str, ...], Quoted] = ()
    """What was noteworthy: of the parser, or `adapter:` and what a provider's adapter changed."""
    model_calls: Annotated[Count | None, Filled(lambda trace: trace.model_calls)] = 0
    """Calls of the model; null: unknown, as an outside agent did not tell."""
    tool_calls: Annotated[Count | None, Filled(lambda trace: trace.tool_calls)] = 0
    """Calls of tools; null: unknown."""
    tool_errors: Annotated[Count | None, Filled(lambda trace: trace.tool_errors)] = 0
    """Calls of tools that ended with an error; null: unknown."""
    tools_used: Annotated[Mapping[str, Mapping[str, int]], Quoted] = field(default_factory=dict)
    """By tool: `calls`, `bad_arguments`, `errors`; where there are any, `repeated` and `injected`."""
    cache_hits: Annotated[Count, Filled(lambda trace: sum(reply.cached for reply in trace.replies))] = 0
    """Model calls that the response cache answered."""
    prompt_tokens: Annotated[Tokens | None, Filled(lambda trace: trace.prompt_tokens)] = None
    """Tokens of all prompts; null: unknown."""
    completion_tokens: Annotated[Tokens | None, Filled(lambda trace: trace.completion_tokens)] = None
    """Tokens of all replies; null: unknown."""
    cached_tokens: Annotated[Tokens | None, Filled(lambda trace: trace.cached_tokens)] = None
    """Prompt tokens that the provider read from its cache; null: unknown."""
    reasoning_tokens: Annotated[Tokens | None, Filled(lambda trace: trace.reasoning_tokens)] = None
    """Completion tokens that were reasoning; null: unknown."""
    usd: Annotated[Dollars | None, Filled(lambda trace: trace.usd)] = None
    """Dollars of all calls; null: unknown."""
    wall_s: Annotated[float, Form(least=0)] = 0.0
    """Seconds, without waiting for a provider's rate limit."""
    attempt: int = 1
    """Number of the attempt, from 1: a trial whose worker died is run again."""
    error: str = ""
    """Why a trial has no score, as reported; shortened and without secrets."""
    tools_offered: Annotated[Count | None, Filled(lambda trace: trace.tools_offered)] = None
    """Tools that fitted the sample; null: the model was not called."""
    reply_state: Annotated[ReplyState, Form(sql_length=16)] | None = None
    """What became of the reply; null: not recorded."""
    read_by: str = ""
    """Rule by which the answer was read; empty: no answer was read, or the rule is not recorded."""
    started_at: Moment | None = None
    """When the trial began, ISO 8601 in UTC; null: not recorded."""
    ended_at: Moment | None = None
    """When it ended."""
    model_version: Annotated[str, Quoted] = ""
    """Version and fingerprint of the model as its provider told them; empty: it did not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowColumn:
    """A column of a row, as its field declares it. `default` is MISSING where a row file must have it."""

    name: str
    kind: ColumnKind
    type: Any  # the field's, without None and without its form
    is_nullable: bool
    default: Any
    form: Form
    filled: Filled | None

    @property
    def is_json(self) -> bool:
        return self.kind in ("texts", "mapping")


def columns_of(row_class: type) -> tuple[RowColumn, ...]:
    """The columns that the fields of a dataclass declare.

    Raises:
        TypeError: a field has a type that no column holds; the message names it.
    """
    hints = get_type_hints(row_class, include_extras=True)
    return tuple(_column(item, hints[item.name]) for item in fields(row_class))


def _column(item: "Field[Any]", hint: Any) -> RowColumn:
    bare, is_nullable, form = _parts(hint)
    factory = item.default_factory
    return RowColumn(
        name=item.name,
        kind=_kind(item.name, bare),
        type=bare,
        is_nullable=is_nullable,
        default=item.default if factory is MISSING else factory(),
        form=form or Form(),
        filled=next((x for x in getattr(hint, "__metadata__", ()) if isinstance(x, Filled)), None),
    )


def _parts(hint: Any) -> tuple[Any, bool, Form | None]:
    """The bare type, whether None is allowed, and the form, which may be inside a union or around it."""
    if get_origin(hint) is Annotated:
        bare, is_nullable, form = _parts(get_args(hint)[0])
        return bare, is_nullable, next((x for x in hint.__metadata__ if isinstance(x, Form)), form)
    if get_origin(hint) in (Union, types.UnionType) and type(None) in get_args(hint):
        members = [member for member in get_args(hint) if member is not type(None)]
        if len(members) == 1:
            bare, _, form = _parts(members[0])
            return bare, True, form
    return hint, False, None


def _kind(name: str, bare: Any) -> ColumnKind:
    if isinstance(bare, type) and issubclass(bare, Enum):
        return "choice"
    if get_origin(bare) is Mapping:
        return "mapping"
    if bare not in KINDS:
        raise TypeError(
            f"{name}: no column holds {bare}; allowed: {', '.join(map(str, KINDS))}, Enum, Mapping"
        )
    return KINDS[bare]


ROW_COLUMNS = columns_of(Row)
COLUMNS = tuple(column.name for column in ROW_COLUMNS)
