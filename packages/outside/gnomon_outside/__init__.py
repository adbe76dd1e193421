"""Asks agents from outside once, by a command, an address or an import, and holds them to what they tell.

`kinds/` has one module for each way to reach one, with a function of the module's name that makes an agent of
what the spec says (`OutsideAgent`). Start at `asked_agent.py`, which is the same for all: it asks once and
records what the agent tells. docs/outside-agents.md has the contracts.
"""
