"""A process that runs a job's shards one after another holds no more for a long job than for a short one."""

import pytest

from bench.performance.flat import peaks_mb


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_a_job_ten_times_as_long_takes_no_more_memory():
    short_mb, long_mb = peaks_mb((2_000, 20_000))
    # SQLite keeps up to 2 MB of the database for each connection, and a short job fills less of that.
    assert long_mb - short_mb < 8
