"""Builds reports in the background, for pages that cannot wait for them."""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gnomon.stopping import Unwanted, stoppable
from service.report_cache import ReportCache
from workers.store.database import in_words

if TYPE_CHECKING:
    from gnomon.report.report import Report

KEPT = 8  # jobs
MIN_AGE_S = 10.0  # the report of a running job is not built more often
MAX_SHARE = 10  # nor more often than every so many times what building it takes
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveReport:
    """A report that was built; `is_current` if nothing has come since.

    `kept` is for what its readers make of it and want to make once.
    """

    report: "Report"
    stamp: str
    at_s: float
    took_s: float
    is_current: bool = True
    age_s: float = 0.0
    kept: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class _Desk:
    """A job's last report, the thread that builds the next one, and why the last try failed."""

    last: LiveReport | None = None
    builder: threading.Thread | None = None
    problem: str = ""
    problem_stamp: str = ""


class LiveReports:
    """The last reports of the jobs that were looked at. Safe to share between threads.

    The report of a running job is built again at most every ten seconds, and takes at most a tenth of the
    time of one processor, however many look on.
    """

    def __init__(self, reports: ReportCache, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._reports, self._clock = reports, clock
        self._desks: OrderedDict[str, _Desk] = OrderedDict()
        self._lock = threading.Lock()
        self._is_closed = False

    def of(self, job_id: str, *, is_open: bool, patience_s: float = 0.0) -> tuple[LiveReport | None, str]:
        """The last report there is, if any, and why the newest cannot be built; empty where it can.

        Waits up to `patience_s` seconds for one that is being built.

        Raises:
            NotFound: the job does not exist.
        """
        stamp = self._reports.stamp(job_id)
        desk = self._desk(job_id)
        with self._lock:
            if desk.builder is None and not self._is_closed and self._is_due(desk, stamp, is_open=is_open):
                desk.builder = threading.Thread(
                    target=self._build, args=(job_id, desk, stamp), name="live-report", daemon=True
                )
                desk.builder.start()
            builder = desk.builder
        if builder is not None and patience_s > 0:
            builder.join(patience_s)
        last = desk.last
        problem = desk.problem if desk.problem_stamp == stamp else ""
        if last is None or last.stamp == stamp:
            return last, problem
        stale = LiveReport(
            report=last.report,
            stamp=last.stamp,
            at_s=last.at_s,
            took_s=last.took_s,
            is_current=False,
            age_s=self._clock() - last.at_s,
            kept=last.kept,
        )
        return stale, problem

    def close(self) -> None:
        """Stop building, and wait until that has stopped."""
        with self._lock:
            self._is_closed = True
            builders = [desk.builder for desk in self._desks.values() if desk.builder is not None]
        for builder in builders:
            builder.join()

    def _is_due(self, desk: _Desk, stamp: str, *, is_open: bool) -> bool:
        if desk.problem and desk.problem_stamp == stamp:
            return False
        last = desk.last
        if last is None:
            return True
        if last.stamp == stamp:
            return False
        return not is_open or self._clock() - last.at_s >= max(MIN_AGE_S, MAX_SHARE * last.took_s)

    def _build(self, job_id: str, desk: _Desk, stamp: str) -> None:
        began_s = self._clock()
        try:
            with stoppable(lambda: not self._is_closed):
                report, age_s = self._reports.get(job_id)
            now_s = self._clock()
            built_of = stamp if not age_s else "older"
            desk.last = LiveReport(report=report, stamp=built_of, at_s=now_s, took_s=now_s - began_s)
            desk.problem = ""
        except Unwanted:
            return
        except Exception as error:  # noqa: BLE001 - the page shows all the rest
            desk.problem, desk.problem_stamp = in_words(error) or type(error).__name__, stamp
            log.warning("job %s has no report: %s", job_id, in_words(error))
        finally:
            with self._lock:
                desk.builder = None

    def _desk(self, job_id: str) -> _Desk:
        with self._lock:
            desk = self._desks.setdefault(job_id, _Desk())
            self._desks.move_to_end(job_id)
            for old in [name for name, place in self._desks.items() if place.builder is None][:-KEPT]:
                if old != job_id:
                    del self._desks[old]
            return desk
