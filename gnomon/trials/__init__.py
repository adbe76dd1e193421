"""One trial: from a spec's plan of trials to an answer, its score and its row. Start with `run_trial.py`."""
