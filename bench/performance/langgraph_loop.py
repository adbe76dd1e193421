"""Runs the workload in LangGraph as its users write it: a graph of a model node and a tools node.

python -m bench.performance.langgraph_loop BASE TRIALS IN_FLIGHT litellm|aiohttp

The model node calls LiteLLM, or the endpoint itself over one aiohttp session. Nothing is kept, limited,
traced or scored beyond the answer's letter: what a harness of one's own costs before it does anything.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from operator import add
from typing import Annotated, Any, TypedDict

import aiohttp
from langgraph.graph import END, START, StateGraph

from bench.performance.floor import SCHEMA
from bench.performance.meter import Meter
from bench.performance.workload import QUESTION

Message = dict[str, Any]
Chat = Callable[[list[Message]], Awaitable[Message]]


class State(TypedDict):
    """A conversation; what a node returns is appended."""

    messages: Annotated[list[Message], add]


def graph_of(chat: Chat) -> Any:
    """The compiled graph: the model is asked until it calls no tool."""

    async def model(state: State) -> State:
        return {"messages": [await chat(state["messages"])]}

    async def tools(state: State) -> State:
        return {"messages": [result_of(call) for call in state["messages"][-1]["tool_calls"]]}

    def next_node(state: State) -> str:
        return "tools" if state["messages"][-1].get("tool_calls") else END

    graph = StateGraph(State)
    graph.add_node("model", model)
    graph.add_node("tools", tools)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", next_node)
    graph.add_edge("tools", "model")
    return graph.compile()


def result_of(call: Message) -> Message:
    """The message with the tool's result."""
    arguments = json.loads(call["function"]["arguments"])
    content = json.dumps({"speed_mps": arguments["distance_m"] / arguments["seconds"]})
    return {"role": "tool", "tool_call_id": call["id"], "content": content}


def over_aiohttp(session: aiohttp.ClientSession, base: str) -> Chat:
    """Ask the endpoint itself."""

    async def chat(messages: list[Message]) -> Message:
        body = {"model": "mock", "messages": messages, "tools": [SCHEMA], "tool_choice": "auto"}
        async with session.post(f"{base}/chat/completions", json=body) as response:
            reply: Message = (await response.json())["choices"][0]["message"]
        return reply

    return chat


def over_litellm(base: str) -> Chat:
    """Ask through LiteLLM with its defaults."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = (
        "True"  # its import would look for a newer one in the network
    )
    import litellm

    async def chat(messages: list[Message]) -> Message:
        reply = await litellm.acompletion(
            model="openai/mock", api_base=base, api_key="none", messages=messages, tools=[SCHEMA]
        )
        message: Message = reply.choices[0].message.model_dump(exclude_none=True)
        return message

    return chat


async def answer_all(chat: Chat, trials: int, in_flight: int) -> int:
    """How many trials were answered rightly."""
    graph, right, left = graph_of(chat), 0, trials

    async def worker() -> None:
        nonlocal right, left
        while left > 0:
            left -= 1
            ended = await graph.ainvoke({"messages": [{"role": "user", "content": QUESTION}]})
            right += "B" in ended["messages"][-1]["content"]

    await asyncio.gather(*(worker() for _ in range(in_flight)))
    return right


async def measure(base: str, trials: int, in_flight: int, transport: str) -> None:
    """Warm up, then run the workload in the same loop, as clients belong to their loop."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        chat = over_aiohttp(session, base) if transport == "aiohttp" else over_litellm(base)
        await answer_all(chat, 5, 5)
        meter = Meter()
        meter.report(right=await answer_all(chat, trials, in_flight))


def main() -> None:
    base, trials, in_flight, transport = sys.argv[1:]
    asyncio.run(measure(base, int(trials), int(in_flight), transport))


if __name__ == "__main__":
    main()
