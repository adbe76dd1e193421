"""One trial: from a spec's plan of trials to an answer, its score and its row.

Start with `run_trial.py`. Before it come `trial_plan.py` (which trials a job has), `prompt.py` and
`scene_facts.py` (what the model is shown), `fault_injection.py` and `corrupt_measurements.py` (tools that
fail on purpose); around it `timeout.py` and `provider_wait.py`; after it `rescore.py`.
"""
