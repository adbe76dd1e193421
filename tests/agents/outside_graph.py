"""A LangGraph graph of somebody else's: it looks at an atlas, then answers."""

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph


def _look(state: MessagesState) -> MessagesState:
    call = {"name": "atlas", "args": {"of": "France"}, "id": "c1"}
    usage = {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}
    looks = AIMessage(content="", tool_calls=[call], usage_metadata=usage)
    return {"messages": [looks, ToolMessage(content="Paris", tool_call_id="c1", name="atlas")]}


def _answer(state: MessagesState) -> MessagesState:
    usage = {"input_tokens": 12, "output_tokens": 1, "total_tokens": 13}
    return {"messages": [AIMessage(content="Paris", usage_metadata=usage)]}


def _broken(state: MessagesState) -> MessagesState:
    raise KeyError("atlas")


def _graph(node):
    builder = StateGraph(MessagesState)
    builder.add_node("look", _look)
    builder.add_node("answer", node)
    builder.add_edge(START, "look")
    builder.add_edge("look", "answer")
    builder.add_edge("answer", END)
    return builder.compile()


graph = _graph(_answer)
NOT_A_GRAPH = 7


def broken():
    return _graph(_broken)
