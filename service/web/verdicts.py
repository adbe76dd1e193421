"""Keeps what a list says of each ended job in memory, so that a long list is counted without reading."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cachetools import LRUCache

from service.headlines import Headline, Headlines

KEPT = 5_000  # verdicts
Stamp = tuple[str, int]  # status and processed trials: what a verdict was read for


@dataclass(frozen=True, slots=True, kw_only=True)
class JobVerdict:
    """A job's first comparison over all samples; `more` counts the others that are primary too.

    The numbers are None where the report withholds them.
    """

    model: str
    baseline: str
    variant: str
    word: str
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


def verdict_in(headline: Headline) -> JobVerdict | None:
    """The verdict that a headline begins with; None where the job compares no arms."""
    if not headline["findings"]:
        return None
    first, *others = headline["findings"]
    is_shown = first["diff"] is not None and not first["withheld"]
    low, high = first["ci95"] if first["ci95"] and is_shown else (None, None)
    return JobVerdict(
        model=first["model"],
        baseline=first["baseline"],
        variant=first["variant"],
        word=first["verdict"],
        diff=first["diff"] if is_shown else None,
        low=low,
        high=high,
        baseline_mean=first["baseline_mean"] if is_shown else None,
        variant_mean=first["variant_mean"] if is_shown else None,
        samples=first["n"],
        clusters=first["clusters"],
        margin=headline["margin"],
        reasons=tuple(first["reasons"]),
        more=sum(finding["family"] == "primary" for finding in others),
    )


class Verdicts:
    """Verdicts of jobs that have ended, by job. Safe to share between threads."""

    def __init__(self, headlines: Headlines) -> None:
        self._headlines = headlines
        self._kept: LRUCache[str, tuple[Stamp, JobVerdict | None]] = LRUCache(KEPT)
        self._lock = threading.Lock()

    def of(self, stamps: Iterable[tuple[str, Stamp]]) -> Mapping[str, JobVerdict | None]:
        """The verdicts there are of these jobs; those of the others will be there later."""
        wanted = dict(stamps)
        with self._lock:
            kept = {job_id: self._kept[job_id] for job_id in wanted if job_id in self._kept}
        ready = {job_id: verdict for job_id, (stamp, verdict) in kept.items() if stamp == wanted[job_id]}
        missing = [job_id for job_id in wanted if job_id not in ready]
        read = {job_id: verdict_in(headline) for job_id, headline in self._headlines.of(missing).items()}
        with self._lock:
            self._kept.update({job_id: (wanted[job_id], verdict) for job_id, verdict in read.items()})
        return ready | read

    def due(self) -> frozenset[str]:
        """The jobs whose verdict is being worked out."""
        return self._headlines.due()
