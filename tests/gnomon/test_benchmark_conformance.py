"""What every benchmark must keep, whoever adds it."""

import pytest

from gnomon.core.benchmark import BENCHMARKS
from gnomon_conformance import checks

ELSEWHERE = {"itinerary"}  # beside its other tests, which draw the same questions: that takes ten seconds


@pytest.mark.parametrize("name", sorted(set(BENCHMARKS.names()) - ELSEWHERE))
def test_a_benchmark_keeps_what_all_keep(name: str) -> None:
    assert BENCHMARKS.get(name).name == name
    for check in checks(BENCHMARKS.get(name)):
        check()
