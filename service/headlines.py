"""Keeps what a list of jobs shows of each: the verdict, the arms' means, how many samples."""

import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, cast

from typing_extensions import TypedDict

from gnomon.report.alert import line_of
from gnomon.stopping import Unwanted, stoppable
from service.report_cache import ReportCache, keep_quietly, kept_stamp
from workers.store.database import in_words
from workers.store.job_counters import OPEN
from workers.store.store import Store

if TYPE_CHECKING:
    from gnomon.report.report import Report

KIND = "headline"  # of the document in the store
MOST = 12  # comparisons and arms that are listed
log = logging.getLogger(__name__)


class ArmMean(TypedDict):
    """A model's mean score under an arm."""

    model: str
    arm: str
    mean: float | None
    ci95: list[float] | None


class Finding(TypedDict):
    """One comparison over all samples, primary ones first; the words are those of the report."""

    model: str
    baseline: str
    variant: str
    verdict: str
    verdict_text: str
    withheld: bool
    diff: float | None
    ci95: list[float] | None
    baseline_mean: float | None
    variant_mean: float | None
    n: int
    clusters: int
    rescued: int
    broken: int
    family: str
    reasons: list[str]


class Headline(TypedDict):
    """What a report says in short."""

    name: str
    benchmark: str
    margin: float
    alerts: list[str]
    arms: list[ArmMean]
    findings: list[Finding]


def headline_of(report: "Report") -> Headline:
    """The headline of a report."""
    over_all = [contrast for contrast in report["contrasts"] if contrast["scope"] == "all"]
    over_all.sort(key=lambda contrast: contrast["family"] != "primary")
    return {
        "name": report["job"]["name"],
        "benchmark": report["job"]["benchmark"],
        "margin": report["job"]["margin"],
        "alerts": list(map(line_of, report["alerts"][:MOST])),
        "arms": [
            cast(ArmMean, {name: arm[name] for name in ArmMean.__annotations__})  # type: ignore[literal-required]
            for arm in report["arms"][:MOST]
        ],
        "findings": [
            cast(Finding, {name: contrast[name] for name in Finding.__annotations__})  # type: ignore[literal-required]
            for contrast in over_all[:MOST]
        ],
    }


class Headlines:
    """The headlines of jobs that have ended. Safe to share between threads.

    What is not kept is built by one thread in the background, one job after another: `of` waits for none.
    It then calls `prepare` with the job, for what else its pages need once it has ended.
    """

    def __init__(
        self, store: Store, reports: ReportCache, *, prepare: Callable[[str], object] = lambda _: None
    ) -> None:
        self._store, self._reports, self._prepare = store, reports, prepare
        self._lock = threading.Lock()
        self._wanted: OrderedDict[str, str] = OrderedDict()  # stamps by job
        self._failed: dict[str, str] = {}  # stamps by job: not tried again before something changes
        self._builder: threading.Thread | None = None
        self._is_closed = False

    def of(self, job_ids: Iterable[str]) -> dict[str, Headline]:
        """The headlines there are of these jobs; those of others that have ended will be there later."""
        asked = list(job_ids)
        states = self._store.job_states(asked)
        ended = [name for name in asked if name in states and states[name].status not in OPEN]
        stamps = {name: kept_stamp(states[name]) for name in ended}
        kept = self._store.kept_of(stamps, KIND)
        ready = {name: body for name, (stamp, body) in kept.items() if stamp == stamps[name]}
        self._want({name: stamp for name, stamp in stamps.items() if name not in ready})
        return {name: json.loads(body) for name, body in ready.items()}

    def due(self) -> frozenset[str]:
        """The jobs whose headlines are still to be built."""
        with self._lock:
            return frozenset(self._wanted)

    def close(self) -> None:
        """Stop building, and wait until that has stopped."""
        with self._lock:
            self._is_closed = True
            self._wanted.clear()
            builder = self._builder
        if builder is not None:
            builder.join()

    def _want(self, stamps: dict[str, str]) -> None:
        with self._lock:
            new = {name: stamp for name, stamp in stamps.items() if self._failed.get(name) != stamp}
            if self._is_closed or not new:
                return
            self._wanted.update(new)
            if self._builder is None:
                self._builder = threading.Thread(target=self._build_all, name="headlines", daemon=True)
                self._builder.start()

    def _build_all(self) -> None:
        with stoppable(lambda: not self._is_closed):
            while True:
                with self._lock:
                    if not self._wanted:
                        self._builder = None
                        return
                    job_id, stamp = next(iter(self._wanted.items()))
                self._build(job_id, stamp)
                with self._lock:
                    self._wanted.pop(job_id, None)

    def _build(self, job_id: str, stamp: str) -> None:
        try:
            report, _ = self._reports.get(job_id)
            body = json.dumps(headline_of(report)).encode()
            if kept_stamp(self._store.job_state(job_id)) == stamp:
                keep_quietly(self._store, job_id, KIND, stamp, body)
            self._prepare(job_id)
        except Unwanted:
            return
        except Exception as error:  # noqa: BLE001 - the others are built all the same
            self._failed[job_id] = stamp
            log.warning("job %s has no headline: %s", job_id, in_words(error))
