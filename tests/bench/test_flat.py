"""A process that runs a job's shards one after another holds no more for a long job than for a short one."""

import pytest

from bench.performance.flat import grow

SHORT, LONG = 2_000, 20_000


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_job_ten_times_as_long_takes_no_more_memory():
    short, long = grow((SHORT, LONG))
    assert long.blocks - short.blocks < 0.5 * (LONG - SHORT)  # no trial leaves even one
    assert long.peak_mb - short.peak_mb < 16
