"""One trial: from a spec's plan of trials to an answer, its score and its row.

Start with `run_trial.py`. Before it comes `trial_plan.py` (which trials a job has), after it `rescore.py`.
`condition.py` says what a condition of an arm may change; `gnomon/conditions` holds ours.
"""
