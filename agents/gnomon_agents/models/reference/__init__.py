"""The reference model: a deterministic policy that answers from messages and tool schemas alone.

Start at model.py. Each kind of question has a solver (solver.py), which reads what tools have said
(tool_results.py); the one here answers plain questions on a scene (scene_questions.py).
"""
