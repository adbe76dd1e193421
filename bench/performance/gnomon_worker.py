"""Runs the workload in a process that starts as a worker does (`python -m gnomon_workers`).

python -m bench.performance.gnomon_worker BASE TRIALS IN_FLIGHT FOLDER REDIS_URL
"""

import sys
from pathlib import Path

from bench.meter import Meter
from gnomon_workers.process import limit_memory, raise_gc_threshold


def main() -> None:
    limit_memory()
    raise_gc_threshold()
    from bench.performance.gnomon_job import Job, spec_of

    base, trials, in_flight = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    folder, redis_url = Path(sys.argv[4]), sys.argv[5]
    warm_up = spec_of("openai/warm-up", base, 5, 5)  # another name: the cache must not help
    job = Job(folder, redis_url, warm_up.models[0])
    job.run(warm_up)
    meter = Meter()
    meter.report(right=job.run(spec_of("openai/mock", base, trials, in_flight)))


if __name__ == "__main__":
    main()
