"""What every benchmark must keep, whoever adds it."""

import pytest

from gnomon.core.benchmark import BENCHMARKS
from gnomon_conformance import checks


@pytest.mark.parametrize("name", BENCHMARKS.names())
def test_a_benchmark_keeps_what_all_keep(name: str) -> None:
    assert BENCHMARKS.get(name).name == name
    for check in checks(BENCHMARKS.get(name)):
        check()
