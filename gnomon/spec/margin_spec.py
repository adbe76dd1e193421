"""How the margin of equivalence is written in a spec: a number, or a form with subsets of their own."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import Field, PlainSerializer, PlainValidator, ValidationError, model_validator

from gnomon.core.validation import StrictModel
from gnomon.statistics.equivalence import Margin

FORMS = "a number such as 0.05, {absolute: 0.05}, {relative: 0.1} or {odds: 1.2}"


class MarginForm(StrictModel):
    """One of three ways to say how large a difference counts as none."""

    absolute: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="A fraction of the score's scale; 0.05 is 5 points; null: not of this kind.",
    )
    relative: float | None = Field(
        default=None, gt=0, lt=1, description="A fraction of the baseline's score; null: not of this kind."
    )
    odds: float | None = Field(
        default=None,
        gt=1,
        le=100,
        description="How many times as high or low the odds of being right are; null: not of this kind.",
    )

    @model_validator(mode="after")
    def _is_of_one_kind(self) -> "MarginForm":
        if sum(size is not None for size in (self.absolute, self.relative, self.odds)) != 1:
            raise ValueError("needs exactly one of absolute, relative and odds")
        return self

    @property
    def margin(self) -> Margin:
        if self.relative is not None:
            return Margin(kind="relative", size=self.relative)
        if self.odds is not None:
            return Margin(kind="odds", size=self.odds)
        return Margin(kind="absolute", size=self.absolute or 0.0)


Form = TypeVar("Form", bound=MarginForm)


def _reader(form: type[Form]) -> Callable[[Any], float | Form]:
    """Reads a number or that form; what is wrong is said of the margin's own field."""

    def read(value: Any) -> float | Form:
        if isinstance(value, form):
            return value
        if isinstance(value, dict):
            try:
                return form.model_validate(value)
            except ValidationError as error:
                first = error.errors()[0]
                place = ".".join(map(str, first["loc"]))
                message = first["msg"].removeprefix("Value error, ")
                raise ValueError(f"{place}: {message}" if place else message) from None
        try:
            number = float("nan" if isinstance(value, bool) else value)
        except (TypeError, ValueError):
            raise ValueError(f"must be {FORMS}") from None
        except OverflowError:  # a whole number of more digits than a float can have
            number = float("inf")
        if not 0 < number < 1:
            raise ValueError(f"must be above 0 and below 1, a share of the score's scale; allowed: {FORMS}")
        return number

    return read


def _written(value: float | MarginForm) -> float | dict[str, Any]:
    """A margin as a spec has it: nothing that was not written."""
    if not isinstance(value, MarginForm):
        return value
    return value.model_dump(exclude_none=True, exclude_defaults=True)


class MarginSpec(MarginForm):
    """A margin with others for single subsets."""

    subsets: dict[
        str,
        Annotated[
            float | MarginForm,
            PlainValidator(_reader(MarginForm), json_schema_input_type=float | MarginForm),
            PlainSerializer(_written),
        ],
    ] = Field(default_factory=dict, description="Other margins, by the name of a subset.")


MarginField = Annotated[
    float | MarginSpec,
    PlainValidator(_reader(MarginSpec), json_schema_input_type=float | MarginSpec),
    PlainSerializer(_written),
]


def margin_of(written: float | MarginForm, scope: str) -> Margin:
    """The margin for a subset, or for `all` samples.

    >>> written = MarginSpec.model_validate({"absolute": 0.05, "subsets": {"near": {"odds": 1.2}}})
    >>> margin_of(written, "near").kind, margin_of(written, "far").size, margin_of(0.1, "all").size
    ('odds', 0.05, 0.1)
    """
    if isinstance(written, MarginSpec) and scope in written.subsets:
        written = written.subsets[scope]
    return written.margin if isinstance(written, MarginForm) else Margin(kind="absolute", size=written)


def margin_text(written: float | MarginForm) -> str:
    """A margin in words.

    >>> margin_text(0.05), margin_text(MarginForm(odds=1.2))
    ('±5 points, narrower near 0 and 100 %', 'odds 1.2 times as high or low')
    """
    margin = margin_of(written, "all")
    words = {
        "absolute": f"±{100 * margin.size:.3g} points, narrower near 0 and 100 %",
        "relative": f"±{100 * margin.size:.3g} % of the baseline's score",
        "odds": f"odds {margin.size:.3g} times as high or low",
    }[margin.kind]
    subsets = written.subsets if isinstance(written, MarginSpec) else {}
    return "; ".join([words, *(f"{name}: {margin_text(form)}" for name, form in subsets.items())])
