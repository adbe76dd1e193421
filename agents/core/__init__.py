"""What agents share: turns of a conversation, the rules of a turn with tools, running on LangGraph."""
