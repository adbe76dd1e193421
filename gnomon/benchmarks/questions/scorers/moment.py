"""Scores dates, times of day, and ranges of them."""

from abc import abstractmethod
from datetime import date
from typing import ClassVar, Generic, TypeVar

from pydantic import Field

from gnomon.benchmarks.questions.scorers.scorer import Scorer, Truth, refuse
from gnomon.core.score import Score
from gnomon.core.words import closing
from gnomon.reading.reader import Reading, Unclear
from gnomon.reading.times import DAY_S, Clock, Day, Order, Stretch, clock_of, date_of, read_clock, read_date

T = TypeVar("T")


class MomentScorer(Scorer, Generic[T]):
    """A day or a time of day; of a stretch both ends count."""

    def truth(self, answer: object) -> Truth:
        """A text, or a list of two for a stretch from the first to the second."""
        if isinstance(answer, list) and len(answer) == 2:
            answer = f"{answer[0]} to {answer[1]}"
        value = self._parse(str(answer)) if isinstance(answer, str | date) else None
        if value is None or isinstance(value, Unclear):
            raise refuse(answer, self._what())
        return Truth(value=value, text=self._text(value))

    def score(self, truth: Truth, response: str) -> Score:
        reading = self._read(response)
        if reading.value is None:
            return reading.nothing()
        off = self._offs(reading.value, truth.value)
        metrics: dict[str, float | str | None] = {} if off is None else {self._metric(): off}
        return Score(
            value=float(off is not None and off <= self._allowed()),
            answer=self._text(reading.value),
            metrics=metrics,
            read_by=reading.read_by,
        )

    def _offs(self, answer: T | Stretch[T], right: T | Stretch[T]) -> float | None:
        """By how much it is off, at the worse end; None where only one of both is a stretch."""
        if isinstance(answer, Stretch) and isinstance(right, Stretch):
            return max(self._off(answer.start, right.start), self._off(answer.end, right.end))
        if isinstance(answer, Stretch) or isinstance(right, Stretch):
            return None
        return self._off(answer, right)

    def _text(self, value: T | Stretch[T]) -> str:
        if isinstance(value, Stretch):
            return f"{self._shown(value.start)} to {self._shown(value.end)}"
        return self._shown(value)

    @abstractmethod
    def _parse(self, text: str) -> T | Stretch[T] | Unclear | None: ...

    @abstractmethod
    def _read(self, response: str) -> Reading[T | Stretch[T]]: ...

    @abstractmethod
    def _what(self) -> str: ...

    @abstractmethod
    def _shown(self, value: T) -> str: ...

    @abstractmethod
    def _off(self, answer: T, right: T) -> float: ...

    @abstractmethod
    def _allowed(self) -> float: ...

    @abstractmethod
    def _metric(self) -> str: ...


class DateScorer(MomentScorer[Day]):
    """A day in any usual spelling, or a stretch of days."""

    kind: ClassVar[str] = "date"

    tolerance_days: int = Field(
        default=0, ge=0, le=36_600, description="Days that a right answer may be off."
    )
    order: Order | None = Field(
        default=None,
        description="Which number of 3/4/2026 is the day: `dmy`, `mdy`; null: such a date is no answer.",
    )

    def form(self, truth: Truth) -> str:
        if isinstance(truth.value, Stretch):
            return closing("<YYYY-MM-DD> to <YYYY-MM-DD>")
        return closing("<YYYY-MM-DD>")

    def _parse(self, text: str) -> Day | Stretch[Day] | Unclear | None:
        return date_of(text, self.order)

    def _read(self, response: str) -> Reading[Day | Stretch[Day]]:
        return read_date(response, self.order)

    def _what(self) -> str:
        return "a date such as 2026-06-09, nor two of them"

    def _shown(self, value: Day) -> str:
        return f"{value.year or '--'}-{value.month:02}-{value.day:02}"

    def _off(self, answer: Day, right: Day) -> float:
        return answer.off_days(right)

    def _allowed(self) -> float:
        return self.tolerance_days

    def _metric(self) -> str:
        return "days_off"


class TimeScorer(MomentScorer[Clock]):
    """A time of day in any usual spelling, or a stretch of it, also over midnight."""

    kind: ClassVar[str] = "time"

    tolerance_s: float = Field(
        default=0.0,
        ge=0,
        le=DAY_S / 2,
        description="Seconds that a right answer may be off, also over midnight.",
    )

    def form(self, truth: Truth) -> str:
        if isinstance(truth.value, Stretch):
            return closing("<HH:MM>-<HH:MM>")
        return closing("<HH:MM>")

    def _parse(self, text: str) -> Clock | Stretch[Clock] | Unclear | None:
        return clock_of(text)

    def _read(self, response: str) -> Reading[Clock | Stretch[Clock]]:
        return read_clock(response)

    def _what(self) -> str:
        return "a time of day such as 14:30, nor two of them"

    def _shown(self, value: Clock) -> str:
        minutes, seconds = divmod(value.seconds, 60)
        text = f"{int(minutes) // 60:02}:{int(minutes) % 60:02}"
        return f"{text}:{seconds:05.2f}".removesuffix(".00") if seconds else text

    def _off(self, answer: Clock, right: Clock) -> float:
        return answer.off_s(right)

    def _allowed(self) -> float:
        return self.tolerance_s

    def _metric(self) -> str:
        return "seconds_off"
