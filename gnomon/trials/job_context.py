"""What all trials of a job share, and what is worked out once for many of them."""

import threading
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from cachetools import LRUCache

from gnomon.core.arm import Arm
from gnomon.core.benchmark import (
    FEATURE_PREFIX,
    HEURISTIC_PREFIX,
    Benchmark,
    HasHeuristics,
    MeasuresDifficulty,
    SampleSet,
)
from gnomon.core.sample import Sample
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.condition import Condition, Situation, conditions_of
from gnomon.trials.trial_plan import Trial

MEASURED = 64  # questions whose measures are kept: the arms and repeats of a sample lie side by side


@dataclass(frozen=True, slots=True, kw_only=True)
class JobContext:
    """What all trials of a job share: the spec, its benchmark, where media are, and the samples of the job,
    among which a blind placebo finds other scenes.
    """

    spec: JobSpec
    benchmark: Benchmark
    media: MediaStore
    samples: SampleSet | None = None
    _conditions: dict[tuple[str, ...], list[Condition]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _measured: LRUCache[Hashable, Mapping[str, float | str]] = field(
        default_factory=lambda: LRUCache(MEASURED), init=False, repr=False, compare=False
    )
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    def conditions(self, *arms: Arm) -> Sequence[Condition]:
        """The conditions that one of these arms is under, looked up once a job."""
        names = tuple(arm.name for arm in arms)
        if names not in self._conditions:
            self._conditions[names] = conditions_of(*arms)
        return self._conditions[names]

    def measures_of(self, question: Sample, arm: Arm) -> Mapping[str, float | str]:
        """What rules of thumb score on a question and what makes it hard, by metric: worked out once for all
        arms and repeats that ask a sample under one transform and in one wording.
        """
        key = question.ref.sample_id, arm.transform, arm.wording, repr(arm.conditions)
        with self._lock:
            measures = self._measured.get(key)
        if measures is None:
            measures = self._measure(question)
            with self._lock:
                self._measured[key] = measures
        return measures

    def _measure(self, question: Sample) -> Mapping[str, float | str]:
        measures: dict[str, float | str] = {}
        if isinstance(self.benchmark, HasHeuristics):
            by_rule = self.benchmark.heuristic_scores(question)
            measures |= {f"{HEURISTIC_PREFIX}{rule}": value for rule, value in by_rule.items()}
        if isinstance(self.benchmark, MeasuresDifficulty):
            by_name = self.benchmark.features(question)
            measures |= {f"{FEATURE_PREFIX}{name}": value for name, value in by_name.items()}
        return measures

    def situation(self, arm: Arm, trial: Trial | None = None) -> Situation:
        """The trial, or the arm alone, as its conditions see it."""
        return Situation(
            arm=arm,
            conditions=self.conditions(arm),
            of_job=self.conditions(*self.spec.arms),
            benchmark=self.benchmark,
            spec=self.spec,
            media=self.media,
            trial=trial,
            seed=trial.seed if trial else 0,
        )
