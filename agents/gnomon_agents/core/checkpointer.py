"""Keeps the newest LangGraph checkpoint of a trial with that trial.

Whoever imports this module loads LangGraph.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    writes_sort_key,
)
from langgraph.checkpoint.serde.event_hooks import SerdeEvent, register_serde_event_listener
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import ERROR

from gnomon.core.agent import Checkpoints
from gnomon.core.message import Message

PROMPT = "gnomon_prompt"  # stands for the prompt's messages: they are made anew from the sample
THREAD = "trial"
Write = tuple[str, int, str, Any, str]  # task, its write's number, channel, value, path of the task


@dataclass(slots=True, kw_only=True)
class _Newest:
    """The newest checkpoint of a graph or subgraph, and what its nodes have written since."""

    checkpoint: Checkpoint
    metadata: CheckpointMetadata
    writes: dict[tuple[str, int], Write] = field(default_factory=dict)


class TrialSaver(BaseCheckpointSaver[int]):
    """Hands a trial's checkpoints on to be kept, and one that was kept back to the graph.

    Only plain data, LangGraph's own safe types and `state_types` are read back, nothing is pickled: bytes
    of a database cannot name code to run.
    """

    def __init__(
        self, checkpoints: Checkpoints, prompt: Sequence[Message], state_types: Sequence[type] = ()
    ) -> None:
        super().__init__(serde=JsonPlusSerializer(allowed_msgpack_modules=[*state_types]))
        self._checkpoints, self._prompt = checkpoints, list(prompt)
        self._newest: dict[str, _Newest] = {}  # by namespace; "" is the graph itself

    def load(self) -> bool:
        """Take up the state of an earlier attempt, if there is one that can be read."""
        if self._checkpoints.state is None:
            return False
        blocked: list[str] = []

        def note(event: SerdeEvent) -> None:
            if event["kind"] == "msgpack_blocked":
                blocked.append(event["name"])

        unregister = register_serde_event_listener(note)
        try:
            stored = self.serde.loads_typed(("msgpack", self._checkpoints.state))
            newest = {
                namespace: _Newest(
                    checkpoint=cast(
                        Checkpoint,
                        checkpoint | {"channel_values": self._with_prompt(checkpoint["channel_values"])},
                    ),
                    metadata=metadata,
                    writes={
                        (task, number): (task, number, channel, self._with_prompt(value), path)
                        for task, number, channel, value, path in writes
                    },
                )
                for namespace, checkpoint, metadata, writes in stored
            }
            if blocked or "" not in newest:
                raise ValueError(f"{', '.join(blocked) or 'nothing'} is not allowed there")
        except Exception as error:  # noqa: BLE001 (whatever the bytes are, the trial can begin anew)
            self._checkpoints.begin_anew(f"{type(error).__name__}: {error}"[:200])
            return False
        finally:
            unregister()
        self._newest = newest
        return True

    def values(self) -> dict[str, Any]:
        """The values of the graph's channels, and what its nodes have written since."""
        newest = self._newest[""]
        written = {channel: value for _, _, channel, value, _ in newest.writes.values()}
        return {**newest.checkpoint["channel_values"], **written}

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The newest checkpoint of the graph or subgraph."""
        return self.get_tuple(config)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The newest checkpoint of the graph or subgraph."""
        namespace = config["configurable"].get("checkpoint_ns", "")
        newest = self._newest.get(namespace)
        if newest is None:
            return None
        writes = sorted(newest.writes.values(), key=lambda write: writes_sort_key(write[4], *write[:2]))
        return CheckpointTuple(
            config=_config(namespace, newest.checkpoint["id"]),
            checkpoint=newest.checkpoint,
            metadata=newest.metadata,
            pending_writes=[(task, channel, value) for task, _, channel, value, _ in writes],
        )

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,  # noqa: ARG002 (all channels are kept together)
    ) -> RunnableConfig:
        """Take a checkpoint in place of the last one; one of the whole graph ends its subgraphs'."""
        namespace = config["configurable"].get("checkpoint_ns", "")
        if not namespace:
            self._newest.clear()
        self._newest[namespace] = _Newest(checkpoint=checkpoint, metadata=metadata)
        await self._checkpoints.keep(self._bytes, after=", ".join(_nodes(checkpoint)))
        return _config(namespace, checkpoint["id"])

    def aput_writes(  # type: ignore[override]  # not `async`: it looks at the trace when it is called
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> Awaitable[None]:
        """Take what a node has written, before others of its step have ended."""
        newest = self._newest.get(config["configurable"].get("checkpoint_ns", ""))
        if newest is None or any(channel == ERROR for channel, _ in writes):
            return asyncio.sleep(0)  # what failed is done again
        for number, (channel, value) in enumerate(writes):
            newest.writes[task_id, number] = (task_id, number, channel, value, task_path)
        return self._checkpoints.keep(self._bytes, after=_node(task_path))

    def _bytes(self) -> bytes:
        stored = [
            (
                namespace,
                {
                    **newest.checkpoint,
                    "channel_values": self._without_prompt(newest.checkpoint["channel_values"]),
                },
                newest.metadata,
                [
                    (task, number, channel, self._without_prompt(value), path)
                    for task, number, channel, value, path in newest.writes.values()
                ],
            )
            for namespace, newest in self._newest.items()
        ]
        return self.serde.dumps_typed(stored)[1]

    def _without_prompt(self, value: Any) -> Any:
        """The value, or its values, with the prompt's messages at their head left out."""
        if isinstance(value, dict):
            return {name: self._cut(item) for name, item in value.items()}
        return self._cut(value)

    def _cut(self, value: Any) -> Any:
        length = len(self._prompt)
        if length and isinstance(value, list) and value[:length] == self._prompt:
            return {PROMPT: length, "rest": value[length:]}
        if isinstance(value, dict) and "messages" in value:
            return {**value, "messages": self._cut(value["messages"])}
        return value

    def _with_prompt(self, value: Any) -> Any:
        if isinstance(value, dict):
            if value.keys() == {PROMPT, "rest"}:
                return [*self._prompt, *value["rest"]]
            return {name: self._with_prompt(item) for name, item in value.items()}
        return value


def _config(namespace: str, checkpoint_id: str) -> RunnableConfig:
    return {
        "configurable": {
            "thread_id": THREAD,
            "checkpoint_ns": namespace,
            "checkpoint_id": checkpoint_id,
        }
    }


def _node(task_path: str) -> str:
    """The node in a task's path; of a step of a workflow, the workflow.

    >>> _node("~__pregel_pull, gather"), _node("~__pregel_push, ~__pregel_pull, flow, 0000000000")
    ('gather', 'flow')
    """
    names = [name for name in task_path.split(", ") if not name.startswith("~__pregel")]
    return names[0] if names else "the start"


def _nodes(checkpoint: Checkpoint) -> list[str]:
    """The nodes that ran last."""
    ran = {
        node: max((int(version) for version in versions.values()), default=0)
        for node, versions in checkpoint["versions_seen"].items()
        if not node.startswith("__")
    }
    newest = max(ran.values(), default=0)
    return [node for node, version in ran.items() if version == newest]
