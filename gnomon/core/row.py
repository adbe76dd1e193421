"""A finished trial as it is stored, counted and handed out, and what each of its columns may hold.

A field of `Row` is the one place where a column is declared. The table `results`, what is written to it and
read from it, and row files in every format are derived from `ROW_COLUMNS`.
"""

import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from gnomon.core.score import Outcome

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


Id = Annotated[str, Form(sql_length=40)]
Count = Annotated[int, Form(least=0)]
Tokens = Annotated[int, Form(least=0, most=MAX_TOKENS, is_large=True)]
Quoted = Form(is_quoted=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One result. `usd` and the token counts are None where unknown; `score` is None only when missing.

    `error` is what the provider, the data or Gnomon said where a trial did not come to a score, without
    secrets and shortened. `tools_offered` counts the tools that fitted the sample, None where the model was
    not asked. A column that older databases and row files lack has a default here.
    """

    job_id: Id
    trial_id: Id
    benchmark: str
    task: str
    cell: str
    sample_id: Annotated[str, Form(min_length=1)]
    cluster: str
    model: Annotated[str, Form(min_length=1)]
    arm: Annotated[str, Form(min_length=1, max_length=80)]
    repeat: Count
    outcome: Annotated[Outcome, Form(sql_length=16)]
    stop_reason: Annotated[str, Quoted]
    score: Annotated[float, Form(least=0, most=1)] | None
    metrics: Annotated[Mapping[str, float | str | None], Quoted] = field(default_factory=dict)
    answer: Annotated[str | None, Quoted] = None
    flags: Annotated[tuple[str, ...], Quoted] = ()
    model_calls: Count = 0
    tool_calls: Count = 0
    tool_errors: Count = 0
    tools_used: Annotated[Mapping[str, Mapping[str, int]], Quoted] = field(
        default_factory=dict
    )  # by tool: calls, bad_arguments, errors
    cache_hits: Count = 0
    prompt_tokens: Tokens | None = None
    completion_tokens: Tokens | None = None
    cached_tokens: Tokens | None = None  # of the prompt's, from the provider's cache
    reasoning_tokens: Tokens | None = None  # of the completion's
    usd: Annotated[float, Form(least=0, most=MAX_USD)] | None = None
    wall_s: Annotated[float, Form(least=0)] = 0.0
    attempt: int = 1
    error: str = ""
    tools_offered: Count | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowColumn:
    """A column of a row, as its field declares it. `default` is MISSING where a row file must have it."""

    name: str
    kind: ColumnKind
    type: Any  # the field's, without None and without its form
    is_nullable: bool
    default: Any
    form: Form

    @property
    def is_json(self) -> bool:
        """Whether the table holds it as JSON text."""
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
