"""What agents share: turns with tools (tool_turn.py), conversations (messages.py) and LangGraph.

Start at tool_turn.py.
"""
