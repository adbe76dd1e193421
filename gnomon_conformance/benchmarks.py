"""What every benchmark keeps."""

import json
import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gnomon.core.benchmark import Benchmark, SampleSet, Scoring
from gnomon.core.errors import DataError, SpecError
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_conformance.check import ensure, junk, text
from gnomon_tools.core.registry import ALLOWED_NAME, NAME

LIMIT, WRITTEN = 14, 60
SCORINGS: tuple[Scoring, ...] = ("official", "strict")
RECORDS: tuple[dict[str, Any], ...] = (
    {},
    {"id": 1},
    {"id": 1, "response": "A"},
    {"id": 1, "case": 3, "response": None},
)
LEAKS = ("ground_truth", "correct_")


class BenchmarkSuite:
    """A benchmark opens the same samples again, keeps targets out of prompts, and scores any text."""

    def __init__(self, benchmark: Benchmark, data: Path | None = None) -> None:
        self._benchmark, self._data = benchmark, data

    def says_what_it_is(self) -> None:
        """Name, version, tasks that differ, a headline; shares of published tables lie in [0, 1]."""
        benchmark = self._benchmark
        ensure(NAME.fullmatch(benchmark.name), f"name {benchmark.name!r}; allowed: {ALLOWED_NAME}")
        ensure(benchmark.version, "version: a text that changes with every change of a score")
        ensure(benchmark.tasks, "tasks: at least one")
        ensure(len(set(benchmark.tasks)) == len(benchmark.tasks), "tasks: one of them is there twice")
        ensure(
            benchmark.headline in ("mean_of_cells", "mean_of_samples"),
            "headline: mean_of_cells or mean_of_samples",
        )
        for row in benchmark.published():
            shares = [value for value in row.by_task.values() if value is not None]
            ensure(all(0 <= value <= 1 for value in shares), f"published {row.model}: fractions, not percent")

    def refuses_data_that_are_not_there(self) -> None:
        """An empty folder of data: DataError with its path. Without data: SpecError for an unknown task."""
        with tempfile.TemporaryDirectory() as folder, _media() as media:
            if self._benchmark.needs_data:
                where = Path(folder) / "empty"
                where.mkdir()
                _refused(DataError, lambda: self._opened(media, data=where), says=str(where))
            else:
                _refused(SpecError, lambda: self._opened(media, tasks=("Cooking",)), says="Cooking")

    def gives_the_same_distinct_samples_again(self) -> None:
        """Ids differ, a second opening gives the same, `limit` holds, tasks are those it names."""
        if not self._can_open:
            return
        with _media() as media:
            first, again = self._opened(media), self._opened(media)
            refs = list(first.refs)
            ensure(refs == list(again.refs), "open: the same `select` gave other samples")
            ensure(0 < len(refs) <= LIMIT, f"open: limit {LIMIT} gave {len(refs)} samples")
            ensure(len({ref.sample_id for ref in refs}) == len(refs), "open: two samples have one id")
            for ref in refs:
                sample = first.get(ref.sample_id)
                ensure(sample.ref == ref, f"get({ref.sample_id!r}): another `ref` than that of the list")
                same = sample.messages() == again.get(ref.sample_id).messages()
                ensure(same, f"get({ref.sample_id!r}): another prompt when opened again")
                ensure(
                    ref.task in self._benchmark.tasks, f"{ref.sample_id}: task {ref.task!r} is not in `tasks`"
                )
                ensure(ref.cell, f"{ref.sample_id}: its cell is empty")
                ensure(ref.cluster, f"{ref.sample_id}: its cluster is empty")

    def keeps_the_target_out_of_the_prompt(self) -> None:
        """No prompt holds the sample's id or a field of the ground truth."""
        if not self._can_open:
            return
        with _media() as media:
            samples = self._opened(media)
            for ref in samples.refs:
                prompt = json.dumps(samples.get(ref.sample_id).messages())
                for leak in (ref.sample_id, *LEAKS):
                    ensure(leak not in prompt, f"{ref.sample_id}: its prompt holds {leak!r}")

    def scores_whatever_a_model_writes(self) -> None:
        """Any text gets a score in [0, 1], by either scoring; never an exception."""
        if not self._can_open:
            return
        draw = random.Random(self._benchmark.name)
        written = [
            write(draw) for _ in range(WRITTEN // 2) for write in (text, lambda it: json.dumps(junk(it)))
        ]
        with _media() as media:
            samples = self._opened(media)
            sample = samples.get(samples.refs[0].sample_id)
            for response in ("", *written):
                for scoring in SCORINGS:
                    value = self._benchmark.score(sample, response, scoring=scoring).value
                    ensure(
                        value is not None and 0 <= value <= 1, f"score({response!r}): {value}, not in [0, 1]"
                    )

    def refuses_records_that_lack_what_scoring_needs(self) -> None:
        """A record of `gnomon score` without its fields: SpecError that names the field."""
        for record in RECORDS:
            error = _refused(SpecError, lambda: self._benchmark.score_record(record, scoring="official"))  # noqa: B023 (called at once)
            ensure(error.field, f"score_record({record}): SpecError(…, field=…) names what is missing")

    @property
    def _can_open(self) -> bool:
        return self._data is not None or not self._benchmark.needs_data

    def _opened(self, media: MediaStore, *, data: Path | None = None, **select: Any) -> SampleSet:
        chosen = Select(limit=LIMIT, **select)
        return self._benchmark.open(data=data or self._data, select=chosen, protocol="guarded", media=media)


@contextmanager
def _media() -> Iterator[MediaStore]:
    with tempfile.TemporaryDirectory() as folder:
        yield MediaStore(Path(folder))


def _refused(
    kind: type[DataError] | type[SpecError], call: Callable[[], object], *, says: str = ""
) -> DataError | SpecError:
    """What a call raises.

    Raises:
        NotKept: nothing of this kind, or not in these words.
    """
    try:
        call()
    except (DataError, SpecError) as error:
        ensure(isinstance(error, kind), f"{type(error).__name__}: {error}; it must be a {kind.__name__}")
        ensure(says in str(error), f"{error}: the message must name {says!r}")
        return error
    ensure(False, f"nothing was raised; it must be a {kind.__name__} that names {says or 'the field'!r}")
    raise AssertionError  # never reached
