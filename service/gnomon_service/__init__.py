"""The command line, the REST API and the process tree: where the other packages are put together.

`cli/` holds the commands, `api/` the routes; the modules beside them hold what both use. `jobs` turns a spec
into a stored and queued job; `run_job` runs one to its end with a `local_stack` (queue, workers, sweeper) of
its own; `reports` reads the result. Start at `gnomon_service/cli/main.py` or `gnomon_service/api/app.py`.
"""
