"""The reference model: a deterministic policy that answers from messages and tool schemas alone.

Start at model.py. It reads the question (question.py, trip_reading.py) and what tools have said
(tool_results.py, observations.py); each kind of question has a module that solves it.
"""
