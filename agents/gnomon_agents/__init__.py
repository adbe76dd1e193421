"""Agents: the loops around a model, one per module; each public module defines one object of its own name.

Start at react.py, the loop of model and tools. `core` holds what agents share (turns with tools,
conversations, LangGraph), `models` the models that they ask, `itinerary` the graph of the agent `planner`.
docs/adding-an-agent.md shows how to add one.
"""
