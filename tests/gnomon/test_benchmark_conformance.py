"""What every benchmark must keep, whoever adds it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.benchmark import BENCHMARKS, Benchmark, SampleSet
from gnomon.core.errors import DataError, SpecError
from gnomon.core.select import Select
from gnomon.media import MediaStore

NAMES = BENCHMARKS.names()
LIMIT = 14  # samples; a benchmark may have fewer


@pytest.fixture(scope="module")
def media(tmp_path_factory: pytest.TempPathFactory) -> MediaStore:
    return MediaStore(tmp_path_factory.mktemp("media"))


def opened(benchmark: Benchmark, media: MediaStore, **select: Any) -> SampleSet:
    return benchmark.open(data=None, select=Select(limit=LIMIT, **select), protocol="guarded", media=media)


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_says_what_it_is(name: str) -> None:
    benchmark = BENCHMARKS.get(name)
    assert benchmark.name == name
    assert benchmark.version
    assert len(set(benchmark.tasks)) == len(benchmark.tasks) > 0
    for row in benchmark.published():
        assert all(value is None or 0 <= value <= 1 for value in row.by_task.values())


@pytest.mark.parametrize("name", NAMES)
def test_data_that_is_not_there_is_refused_by_name(name: str, media: MediaStore, tmp_path: Path) -> None:
    benchmark = BENCHMARKS.get(name)
    if benchmark.needs_data:
        with pytest.raises(DataError, match=str(tmp_path)):
            benchmark.open(data=tmp_path, select=Select(), protocol="guarded", media=media)
    else:
        with pytest.raises(SpecError):
            opened(benchmark, media, tasks=("Cooking",))


@pytest.mark.parametrize("name", [name for name in NAMES if not BENCHMARKS.get(name).needs_data])
def test_samples_are_distinct_repeatable_and_keep_their_target_out_of_the_prompt(
    name: str, media: MediaStore
) -> None:
    benchmark = BENCHMARKS.get(name)
    one, two = opened(benchmark, media), opened(benchmark, media)
    assert list(one.refs) == list(two.refs)
    assert 0 < len({ref.sample_id for ref in one.refs}) == len(one.refs) <= LIMIT
    for ref in one.refs:
        sample = one.get(ref.sample_id)
        assert sample.ref == ref
        assert sample.messages() == two.get(ref.sample_id).messages()
        prompt = json.dumps(sample.messages())
        assert ref.sample_id not in prompt
        assert "ground_truth" not in prompt
        assert "correct_" not in prompt


@pytest.mark.parametrize("name", [name for name in NAMES if not BENCHMARKS.get(name).needs_data])
def test_whatever_a_model_writes_gets_a_score(name: str, media: MediaStore) -> None:
    benchmark = BENCHMARKS.get(name)
    samples = opened(benchmark, media)
    sample = samples.get(samples.refs[0].sample_id)

    @given(
        st.text()
        | st.recursive(st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)).map(json.dumps)
    )
    def holds(response: str) -> None:
        for scoring in ("official", "strict"):
            score = benchmark.score(sample, response, scoring=scoring)
            assert score.value is not None
            assert 0 <= score.value <= 1

    holds()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "record", [{}, {"id": 1}, {"id": 1, "response": "A"}, {"id": 1, "case": 3, "response": None}]
)
def test_a_record_without_what_scoring_needs_is_refused_by_name(name: str, record: Mapping[str, Any]) -> None:
    with pytest.raises(SpecError) as caught:
        BENCHMARKS.get(name).score_record(record, scoring="official")
    assert caught.value.field
