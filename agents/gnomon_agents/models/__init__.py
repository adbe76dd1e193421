"""The models that agents ask; start at catalog.py, which opens the model that a spec names.

Built in: scripted.py and `reference`. Called directly: openai_model.py, anthropic_model.py,
responses_model.py. Any other by litellm_model.py. What requests, replies, errors and usage have in common has
modules of its own.
"""
