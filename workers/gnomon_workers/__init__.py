"""Takes shards of jobs off the queue and runs their trials; the store is the truth.

Start with `worker.py`: it forks for a shard. `shard.py` puts the fork together; `runner.py` keeps trials in
flight by leasing (`trial_source.py`), starting (`running_trials.py`) and ending (`trial_ending.py`) them.
`sweeper.py` queues again what dead workers left. `budget/` and `rate_limit/` hold calls to limits, `store/`
keeps all that must survive, `preflight.py` and `circuit_breaker.py` stop models that cannot work.
"""
