"""Code that agents share for conversations, for turns with tools, and for running on LangGraph."""
