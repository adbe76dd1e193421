"""Runs the workload in a process that starts as a worker does (`python -m workers`).

python -m bench.performance.gnomon_worker BASE TRIALS IN_FLIGHT FOLDER REDIS_URL fast|litellm [WORKERS]

Several workers share the trials in flight.
"""

import sys
from pathlib import Path

from bench.performance.meter import Meter
from workers.process import limit_memory, raise_gc_threshold


def main() -> None:
    limit_memory()
    raise_gc_threshold()
    from bench.performance.gnomon_job import Job, spec_of

    base, trials, in_flight = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    folder, redis_url, path = Path(sys.argv[4]), sys.argv[5], sys.argv[6]
    options: dict[str, object] = {"drop_params": True} if path == "litellm" else {}
    warm_up = spec_of("openai/warm-up", base, 5, 5, options)  # another name: the cache must not help
    job = Job(folder, redis_url, warm_up.models[0])
    workers = int(sys.argv[7]) if len(sys.argv) > 7 else 1
    job.run(warm_up)
    meter = Meter()
    spec = spec_of("openai/mock", base, trials, in_flight // workers, options)
    meter.report(right=job.run(spec, workers=workers))


if __name__ == "__main__":
    main()
