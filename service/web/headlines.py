"""Works out the headline of each ended job, in the background and once, for lists that show many jobs."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cachetools import LRUCache

if TYPE_CHECKING:
    from gnomon.report.report import Report

KEPT = 5_000  # headlines
log = logging.getLogger(__name__)
Stamp = tuple[str, int]  # status and processed trials: what a headline was worked out from


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """A job's first comparison over all samples; `more` counts the others of the same family."""

    model: str
    baseline: str
    variant: str
    verdict: str
    diff: float | None
    low: float | None
    high: float | None
    baseline_mean: float | None
    variant_mean: float | None
    samples: int
    clusters: int
    margin: float
    reasons: tuple[str, ...]
    more: int = 0


def headline_of(report: "Report") -> Headline | None:
    """The headline; None where the job compares no arms."""
    over_all = [contrast for contrast in report["contrasts"] if contrast["scope"] == "all"]
    if not over_all:
        return None
    first = over_all[0]
    is_shown = first["diff"] is not None and not first["withheld"]
    low, high = first["ci95"] if first["ci95"] and is_shown else (None, None)
    return Headline(
        model=first["model"],
        baseline=first["baseline"],
        variant=first["variant"],
        verdict=first["verdict"],
        diff=first["diff"] if is_shown else None,
        low=low,
        high=high,
        baseline_mean=first["baseline_mean"] if is_shown else None,
        variant_mean=first["variant_mean"] if is_shown else None,
        samples=first["n"],
        clusters=first["clusters"],
        margin=report["job"]["margin"],
        reasons=tuple(first["reasons"]),
        more=sum(contrast["family"] == first["family"] for contrast in over_all[1:]),
    )


class Headlines:
    """Headlines by job. What is not worked out yet is, by one thread that ends when nothing is left."""

    def __init__(self, report_of: "Callable[[str], Report]") -> None:
        self._report_of = report_of
        self._kept: LRUCache[str, tuple[Stamp, Headline | None]] = LRUCache(KEPT)
        self._due: deque[tuple[str, Stamp]] = deque()
        self._lock = threading.Lock()
        self._is_working = False

    def get(self, stamps: Iterable[tuple[str, Stamp]]) -> Mapping[str, Headline | None]:
        """The headlines that are known, of these jobs; the others will be."""
        with self._lock:
            ready: dict[str, Headline | None] = {}
            self._due.clear()
            for job_id, stamp in stamps:
                kept = self._kept.get(job_id)
                if kept is not None and kept[0] == stamp:
                    ready[job_id] = kept[1]
                else:
                    self._due.append((job_id, stamp))
            if self._due and not self._is_working:
                self._is_working = True
                threading.Thread(target=self._work, name="headlines", daemon=True).start()
        return ready

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._due:
                    self._is_working = False
                    return
                job_id, stamp = self._due.popleft()
            try:
                headline = headline_of(self._report_of(job_id))
            except Exception:  # a job that cannot be reported is listed all the same
                log.exception("the headline of job %s cannot be worked out", job_id)
                headline = None
            with self._lock:
                self._kept[job_id] = stamp, headline
