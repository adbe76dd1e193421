"""Agents from outside: one module for each way to reach one, with a function of the module's name.

The function makes an agent of what the spec says (`OutsideAgent`). Start at `core/asked_agent.py`, which is
the same for all: it asks once and records what the agent tells. docs/outside-agents.md has the contracts.
"""
