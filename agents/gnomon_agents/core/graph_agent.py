"""Runs any compiled LangGraph graph as an agent, with the trial's model and tools as parts for its nodes.

Whoever imports this module loads LangChain's core.
"""

import json
from collections.abc import Sequence
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.pregel import Pregel

from gnomon.core.agent import AgentContext
from gnomon.core.message import Message
from gnomon_agents.core.langgraph_runtime import run_graph, trial_context
from gnomon_agents.core.tool_turn import run_call, tool_choice_now, with_unique_ids
from gnomon_tools.core.json_text import json_object

TURN = "gnomon_turn"  # where a message of LangChain keeps the turn as the model gave it
ROLES = {"human": "user", "system": "system", "ai": "assistant", "tool": "tool"}


class GraphAgent:
    """An agent made of a compiled graph whose state has `messages`, as LangGraph's `MessagesState` does.

    The graph gets the prompt as its messages; the text of its last message is the answer. Its nodes reach the
    trial through `TrialChatModel` and `call_trial_tools`, or through `trial_context`, so what they ask and
    call is recorded, limited and paid like that of any other agent. Calls of models and tools of its own are
    not seen. A trial whose worker died goes on after the last node; `state_types` are the classes in its
    state beside plain data and messages.
    """

    uses_tools = True

    def __init__(
        self,
        name: str,
        description: str,
        graph: Pregel[Any, Any, Any, Any],
        *,
        state_types: Sequence[type] = (),
    ) -> None:
        self.name, self.description, self._graph = name, description, graph
        self._state_types = tuple(state_types)

    async def answer(self, context: AgentContext) -> str:
        """Run the graph on the prompt; the text of its last message.

        Raises:
            LimitReached: a limit of the arm ended it.
            ProviderFault, ModelFault: as the model raises them.
        """
        max_steps = 2 * context.arm.max_turns + 10
        end = await run_graph(
            self._graph,
            {"messages": context.prompt},
            context,
            max_steps=max_steps,
            is_whole=True,
            state_types=self._state_types,
        )
        return str(end["messages"][-1].text)


class TrialChatModel(BaseChatModel):
    """The trial's model as a chat model of LangChain; which tools it is offered is the arm's to say."""

    @property
    def _llm_type(self) -> str:
        return "gnomon"

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError("a trial is asynchronous: call `ainvoke`")

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        context = trial_context()
        conversation = [_from_langchain(message) for message in messages]
        reply = await context.generate(conversation, tool_choice=tool_choice_now(context))
        turn = reply.message(calls=with_unique_ids(reply.tool_calls, conversation))
        return ChatResult(generations=[ChatGeneration(message=_to_langchain(turn))])


async def call_trial_tools(state: dict[str, Any]) -> dict[str, Any]:
    """A node that runs the calls of the last message with the tools of the trial, in place of `ToolNode`."""
    context = trial_context()
    calls = _from_langchain(state["messages"][-1]).get("tool_calls", [])
    results = [await run_call(context, call) for call in calls]
    return {"messages": [ToolMessage.model_validate(dict(result)) for result in results]}


def _to_langchain(turn: Message) -> AIMessage:
    calls = [
        {
            "name": call["function"]["name"],
            "args": json_object(call["function"]["arguments"]),
            "id": call["id"],
        }
        for call in turn.get("tool_calls", ())
    ]
    return AIMessage(
        content=str(turn["content"] or ""), tool_calls=calls, additional_kwargs={TURN: dict(turn)}
    )


def _from_langchain(message: BaseMessage) -> Message:
    """The message in OpenAI's shape; a turn of the model as it came, with all that its provider put on it."""
    if TURN in message.additional_kwargs:
        return cast(Message, message.additional_kwargs[TURN])
    converted: dict[str, Any] = {"role": ROLES[message.type], "content": message.content}
    if isinstance(message, ToolMessage):
        converted["tool_call_id"] = message.tool_call_id
    if isinstance(message, AIMessage) and message.tool_calls:
        converted["tool_calls"] = [
            {
                "id": call["id"] or "",
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["args"])},
            }
            for call in message.tool_calls
        ]
    return cast(Message, converted)
