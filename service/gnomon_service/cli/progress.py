"""Shows progress on stderr: a bar on a terminal, else a line every few seconds."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

from gnomon.core.missing import said_in_short
from gnomon.fitness.table import unfit_text
from gnomon.report.text_formats import clean

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from gnomon_service.run_job import JobSnapshot
    from gnomon_workers.store.records import ModelCheck

LINE_EVERY_S = 5.0
SHORTEST_S = 0.001  # a pace is not told of less
TERMINAL_ENV = ("TTY_COMPATIBLE", "FORCE_COLOR")  # by these Rich takes a pipe for a terminal


class Counter:
    """Shows how many of a total are processed, with a note. A context manager; it appears with the first
    count, so that nothing is shown before an early error.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._bar: tuple[Progress, TaskID] | None = None
        self._started_s: float | None = None
        self._done_before = 0  # done before it appeared, so not part of the rate
        self._next_line_s = 0.0
        self._has_shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar[0].stop()

    def show(self, done: int, total: int, note: str = "") -> None:
        """Show a new count."""
        if self._started_s is None:
            self._start(done)
        if self._bar is not None:
            progress, task = self._bar
            progress.update(task, completed=done, total=total, note=note)
        elif time.monotonic() >= self._next_line_s or (done > self._done_before and not self._has_shown):
            self._has_shown = done > self._done_before  # the first result is shown at once
            self._next_line_s = time.monotonic() + LINE_EVERY_S
            click.echo(self._line(done, total, note), err=True)

    def say(self, line: str) -> None:
        """Print a line above the bar, if there is one."""
        if self._bar is None:
            click.echo(line, err=True)
        else:
            self._bar[0].console.print(line, markup=False, highlight=False)

    def _start(self, done: int) -> None:
        self._started_s, self._done_before = time.monotonic(), done
        self._next_line_s = self._started_s + LINE_EVERY_S
        progress = _bar_on_terminal()
        if progress is not None:
            self._bar = progress, progress.add_task(self._what, total=None, completed=done, note="")
            progress.start()

    def _line(self, done: int, total: int, note: str) -> str:
        elapsed_s = time.monotonic() - (self._started_s or 0.0)
        parts = [f"{self._what}: {done:,} of {total:,} processed"]
        if done > self._done_before:
            rate = (done - self._done_before) / max(elapsed_s, SHORTEST_S)
            parts.append(f"{rate:,.1f} per second" if rate >= 1 else f"{60 * rate:,.1f} per minute")
            parts.append(f"{clock((total - done) / rate)} left")
        else:
            parts.append(f"{clock(elapsed_s)} so far")
        return ", ".join([*parts, note] if note else parts)


def waiting_note(check: "ModelCheck") -> str:
    """What a model's provider said, and until when it is not called, in local time."""
    until = datetime.fromisoformat(check.waits_until or "").astimezone()
    return f"{check.model}: the provider says {said_in_short(check.waits_for)}, waiting until {until:%H:%M}"


def clock(seconds: float) -> str:
    """A duration for people.

    >>> clock(8.4), clock(187), clock(7_300)
    ('8 s', '3 min 07 s', '2 h 01 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3_600} h {whole % 3_600 // 60:02d} min"


def _bar_on_terminal() -> "Progress | None":
    """A bar on stderr; None where that is no terminal. Rich is loaded only where it may be one."""
    if not sys.stderr.isatty() and os.environ.keys().isdisjoint(TERMINAL_ENV):
        return None
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not console.is_terminal:
        return None
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        console=console,
    )


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """Shows progress over `what`; call the yielded function with the number done and the total."""
    with Counter(what) as counter:
        yield counter.show


def line_now_and_then() -> Callable[[str], None]:
    """Says on stderr every few seconds how far long work is; nothing of work that is soon done."""
    next_s = time.monotonic() + LINE_EVERY_S

    def tell(line: str) -> None:
        nonlocal next_s
        if time.monotonic() >= next_s:
            next_s = time.monotonic() + LINE_EVERY_S
            click.echo(line, err=True)

    return tell


class JobProgress:
    """Shows progress over a job's trials, with dollars spent, trials failed and missing; of a job that may
    stop early also each arm's mean score, which of any other would be an early look.
    """

    def __init__(self, counter: Counter | None = None) -> None:
        self._counter = counter or Counter("trials")
        self._sums: dict[str, tuple[float, int]] = {}
        self._told: set[tuple[str, ...]] = set()  # what has been said: once is enough
        self.never_read: list[tuple[str, str]] = []  # models and arms of which no reply could be read

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._counter.__exit__(kind, error, trace)

    def show(self, snapshot: "JobSnapshot") -> None:
        """Show the job as it is now."""
        job, counts = snapshot.job, snapshot.job.counts
        for row in snapshot.rows if job.spec.analysis.sequential else ():
            if row.score is not None:
                total, count = self._sums.get(row.arm, (0.0, 0))
                self._sums[row.arm] = (total + row.score, count + 1)
        for unread in snapshot.unread:
            if unread.key not in self._told:
                self._told.add(unread.key)
                self._counter.say(f"warning: {unread.sentence}")
        self.never_read = [(unread.model, unread.arm) for unread in snapshot.unread if not unread.read]
        for check in job.checks:
            if check.fitness and not check.fitness["fit"] and (check.model,) not in self._told:
                self._told.add((check.model,))
                self._counter.say(clean(f"preflight: {unfit_text(check.fitness)}"))
        notes = [f"{arm} {total / count:.2f}" for arm, (total, count) in sorted(self._sums.items())]
        if counts.model_failed:
            notes.insert(0, f"{counts.model_failed:,} failed by the model")
        if counts.infra_missing:
            notes.insert(0, f"{counts.infra_missing:,} missing")
        if job.known_usd:
            notes.insert(0, f"{'at least ' if job.usd is None else ''}${job.known_usd:,.2f} spent")
        notes[:0] = [waiting_note(check) for check in job.checks if check.waits_until]
        notes[:0] = job.waiting
        if job.not_run:
            notes.insert(0, f"stopped early: decided, {job.not_run:,} not run")
        self._counter.show(counts.done, counts.planned, ", ".join(notes))
