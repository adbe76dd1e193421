"""Itineraries as a benchmark plug-in: generated tasks, or one request of a user's own."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gnomon.core.benchmark import Benchmark, PromptProtocol, SampleSet, Scoring
from gnomon.core.errors import DataError, NotFound, SpecError
from gnomon.core.plain_benchmark import PlainBenchmark
from gnomon.core.plan_row import PlanRow
from gnomon.core.row import Row
from gnomon.core.sample import DataFault, Sample, SampleRef
from gnomon.core.score import Score
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_tools.core.inputs import Need, held
from gnomon_trips.benchmarks.itinerary import question_view as shown
from gnomon_trips.benchmarks.itinerary.brief import REQUEST_ID, Brief, brief_of, checked_request, request_task
from gnomon_trips.benchmarks.itinerary.generate import task_for
from gnomon_trips.benchmarks.itinerary.plan_row import plan_row
from gnomon_trips.benchmarks.itinerary.pool import pool_of
from gnomon_trips.benchmarks.itinerary.prompt import parts_of
from gnomon_trips.benchmarks.itinerary.scoring import floors_of, score
from gnomon_trips.benchmarks.itinerary.talks import follow_ups
from gnomon_trips.benchmarks.itinerary.task import FAMILIES, ON_FOOT, TALKS, Number, number_of, numbers
from gnomon_trips.itinerary.trip import Trip

SAMPLES = 120  # where `select.limit` is not given: 20 per family
CITY = "helsinki"
_ALONE = threading.Lock()  # the arms of a sample ask at once: one generates, the others wait and read


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedTrips:
    """The selected tasks; each is generated when it is asked for."""

    numbers: Mapping[str, Number]
    folder: str | None
    faults: Sequence[DataFault] = ()

    @property
    def refs(self) -> Sequence[SampleRef]:
        return [number.ref() for number in self.numbers.values()]

    def get(self, sample_id: str) -> Sample:
        """Generate the sample.

        Raises:
            NotFound: the sample is not among the selected ones.
        """
        number_of(sample_id)
        if sample_id not in self.numbers:
            raise NotFound(f"no sample {sample_id!r} in this selection")
        number = self.numbers[sample_id]
        with _ALONE:
            task = task_for(number, self.folder)
        return Sample(
            ref=number.ref(),
            parts=parts_of(task),
            target={"task": task},
            inputs=held(task.trip.unjudged()),
            follow_ups=follow_ups(task),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OneTrip:
    """A request of a user's own: one sample, verified but without a known optimum."""

    request: Mapping[str, Any]
    media: MediaStore
    brief: Brief | None = None
    faults: Sequence[DataFault] = ()

    @property
    def refs(self) -> Sequence[SampleRef]:
        return [SampleRef(sample_id=REQUEST_ID, task="request", cell="request", cluster=REQUEST_ID)]

    def get(self, sample_id: str) -> Sample:
        """The sample.

        Raises:
            NotFound: the id is not that of the request.
            DataError: the provider failed, or the names of the request do not fit together.
        """
        if sample_id != REQUEST_ID:
            raise NotFound(f"no sample {sample_id!r}; there is {REQUEST_ID!r}")
        if self.brief:
            parts = self.brief.parts(self.media)
            return Sample(ref=self.refs[0], parts=parts, target={"brief": self.brief})
        try:
            task = request_task(self.request)
        except SpecError as error:
            raise DataError(error.message, field=error.field) from None
        return Sample(ref=self.refs[0], parts=parts_of(task), target={"task": task}, inputs=held(task.trip))


class Itinerary(PlainBenchmark):
    """Families of trips; on foot in Helsinki or in the cities of a folder, by rail in Japan."""

    name = "itinerary"
    version = "4"  # 4: rail minutes of one network; refusals hold at the favourable end of estimates
    tasks: tuple[str, ...] = (*FAMILIES, *TALKS)
    scenes: tuple[str, ...] = ("helsinki", "japan")
    needs_data = False
    headline: Literal["mean_of_cells", "mean_of_samples"] = "mean_of_cells"
    is_cpu_bound = True  # places are looked up, perhaps at services; plans are searched for and verified
    provides: tuple[Need, ...] = (Trip,)
    plans_requests = True

    def open(
        self,
        *,
        data: Path | None,
        select: Select,
        protocol: PromptProtocol,  # noqa: ARG002 (generated tasks leak nothing: both protocols are the same)
        media: MediaStore,
    ) -> SampleSet:
        if select.request is not None:
            brief = brief_of(select.request, data)
            if brief is None:
                checked_request(select.request)
            return OneTrip(request=select.request, media=media, brief=brief)
        cities = _cities(data)
        select.check(tasks=self.tasks, scenes=(*cities, "japan"))
        chosen = [city for city in cities if not select.scenes or city in select.scenes]
        families = [
            family
            for family in select.tasks or FAMILIES
            if (chosen if family in ON_FOOT else not select.scenes or "japan" in select.scenes)
        ]
        if not families:
            raise SpecError("no such task in these scenes; leave one of them out", field="select.tasks")
        for city in chosen:
            pool_of(city, str(data) if data else None)
        limit = SAMPLES if select.limit is None else select.limit
        chosen_numbers = numbers(select.seed, families, chosen or cities, limit)
        return GeneratedTrips(
            numbers={number.sample_id: number for number in chosen_numbers},
            folder=str(data) if data else None,
        )

    def score(
        self,
        sample: Sample,
        response: str,
        *,
        scoring: Scoring,  # noqa: ARG002 (no official scorer)
        variant: str | None = None,  # noqa: ARG002 (same)
    ) -> Score:
        brief: Brief | None = sample.target.get("brief")
        try:
            task = brief.task(response) if brief else sample.target["task"]
        except SpecError as error:
            return Score(value=0.0, flags=(f"not_understood: {error}"[:200],))
        except DataError as error:
            return Score(value=None, reason=str(error))
        return score(task, response, shown=brief.shown if brief else ())

    def score_record(
        self,
        record: Mapping[str, Any],
        *,
        scoring: Scoring,  # noqa: ARG002 (no official scorer)
        variant: str | None = None,  # noqa: ARG002 (same)
    ) -> Score:
        for field in ("request", "response"):
            if field not in record:
                raise SpecError("is missing", field=field)
        if not isinstance(record["request"], dict):
            raise SpecError("must be a planning request", field="request")
        response = record["response"]
        return score(request_task(record["request"]), response if isinstance(response, str) else "")

    def heuristic_scores(self, sample: Sample) -> Mapping[str, float]:
        return floors_of(sample.target["task"]) if "task" in sample.target else {}

    def plan_row(self, row: Row) -> PlanRow:
        return plan_row(row)

    question_view = staticmethod(shown.question_view)
    answer_sketch = staticmethod(shown.answer_sketch)
    verdict_in_words = staticmethod(shown.verdict_in_words)


def _cities(data: Path | None) -> tuple[str, ...]:
    if data is None:
        return (CITY,)
    names = sorted(file.name.removesuffix(".osm.pbf").lower() for file in data.glob("*.osm.pbf"))
    if not names:
        raise DataError(f"{data} holds no OpenStreetMap extract (*.osm.pbf)", field="data")
    return tuple(names)


itinerary: Benchmark = Itinerary()
