"""An agent of the A2A protocol, version 1.0: found by its Agent Card, sent one message, asked until it ends.

Speaks the bindings JSONRPC and HTTP+JSON. Only a completed task, or a message, is an answer: one that
failed, was rejected, or wants more input or a login is a fault of its own name. What Gnomon adds to a message
(seed, limits, where the tools are) is in its metadata under `gnomon`; an agent may tell its steps and usage
there.
"""

import asyncio
import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from gnomon.core.errors import AgentFault, GnomonError, ProviderFault
from gnomon.core.message import ImageBlock, Message, VideoBlock
from gnomon.core.outside_agent import OutsideAgent
from gnomon.spec.endpoints import is_loopback
from gnomon_agents.models.chat_format import sanitize
from gnomon_outside.asked_agent import AskedAgent
from gnomon_outside.contract import VERSION, reply_of
from gnomon_outside.question import AgentReply, Question, Subject, base64_text, bytes_of
from gnomon_outside.web import Web, json_of

CARD = "/.well-known/agent-card.json"
SPOKEN = "1.0"
HEADERS = {"A2A-Version": SPOKEN}
BINDINGS = ("JSONRPC", "HTTP+JSON")
COMPLETED = "TASK_STATE_COMPLETED"
RUNNING = ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING")
NO_ANSWER = {  # states that end without an answer, by cause
    "TASK_STATE_FAILED": "failed",
    "TASK_STATE_REJECTED": "rejected",
    "TASK_STATE_CANCELED": "canceled",
    "TASK_STATE_INPUT_REQUIRED": "input_required",
    "TASK_STATE_AUTH_REQUIRED": "auth_required",
}
WAITING = ("input_required", "auth_required")  # it would go on if it were told more: it is cancelled
FIRST_LOOK_S, MOST_LOOK_S, CANCEL_S = 0.2, 5.0, 5.0
VERSION_NOT_SUPPORTED = -32009


@dataclass(frozen=True, slots=True, kw_only=True)
class _Interface:
    """Where and how an agent is called."""

    url: str
    is_rpc: bool
    tenant: str


class _A2A(Subject):
    """Sends messages to one agent."""

    def __init__(self, spec: OutsideAgent) -> None:
        super().__init__(spec.label)
        self._base, self._web = str(spec.a2a).rstrip("/"), Web(spec)
        self._interface: _Interface | None = None

    async def ask(self, question: Question) -> AgentReply:
        try:
            async with asyncio.timeout(question.timeout_s):
                return await self._ask(question)
        except TimeoutError:
            raise AgentFault(f"no answer within {question.timeout_s:g} s", cause="timeout") from None

    async def _ask(self, question: Question) -> AgentReply:
        if self._interface is None:
            card = await self._web.get(self._card_url(), timeout_s=question.timeout_s, headers=HEADERS)
            self._interface = _interface_in(json_of(card), self._base)
        interface = self._interface
        result = await self._call(
            interface,
            "SendMessage",
            {"message": _message(question), "configuration": {"acceptedOutputModes": ["text/plain"]}},
            timeout_s=question.timeout_s,
        )
        if isinstance(result.get("message"), Mapping):
            return _reply([result["message"]], [], question)
        task = result.get("task")
        if not isinstance(task, Mapping) or not isinstance(task.get("id"), str):
            raise AgentFault("the answer has neither a message nor a task", cause="bad_shape")
        return await self._ended(interface, task, question)

    async def _ended(self, interface: _Interface, task: Mapping[str, Any], question: Question) -> AgentReply:
        """The reply of a task once it has ended; it is cancelled where nobody waits for it any more."""
        task_id, pause_s = str(task["id"]), FIRST_LOOK_S
        try:
            while _state(task) in RUNNING:
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, MOST_LOOK_S)
                task = await self._call(interface, "GetTask", {"id": task_id}, timeout_s=question.timeout_s)
            return _answer(task, question)
        except BaseException as error:
            if not isinstance(error, AgentFault) or error.cause in WAITING:
                with suppress(GnomonError, TimeoutError):
                    await self._call(interface, "CancelTask", {"id": task_id}, timeout_s=CANCEL_S)
            raise

    def _card_url(self) -> str:
        return self._base if self._base.endswith(".json") else self._base + CARD

    async def _call(
        self, interface: _Interface, method: str, params: dict[str, Any], *, timeout_s: float
    ) -> Mapping[str, Any]:
        """The result of one operation.

        Raises:
            ProviderFault: it cannot be reached, or does not speak this version.
            AgentFault: `failed`: it answers with an error; `bad_json` or `bad_shape`.
        """
        if interface.is_rpc:
            if interface.tenant:
                params = {**params, "tenant": interface.tenant}
            body = {"jsonrpc": "2.0", "id": uuid.uuid4().hex, "method": method, "params": params}
            answer = await self._web.post(interface.url, body, timeout_s=timeout_s, headers=HEADERS)
            content = json_of(answer)
            if isinstance(content, Mapping) and isinstance(content.get("error"), Mapping):
                raise _fault_of(content["error"])
            content = content.get("result") if isinstance(content, Mapping) else None
        else:
            base = interface.url.rstrip("/") + (f"/{quote(interface.tenant)}" if interface.tenant else "")
            headers = {**HEADERS, "Content-Type": "application/a2a+json"}
            if method == "GetTask":
                url = f"{base}/tasks/{quote(params['id'], safe='')}"
                answer = await self._web.get(url, timeout_s=timeout_s, headers=headers)
            else:
                path = (
                    "message:send"
                    if method == "SendMessage"
                    else f"tasks/{quote(params['id'], safe='')}:cancel"
                )
                body = params if method == "SendMessage" else {}
                answer = await self._web.post(f"{base}/{path}", body, timeout_s=timeout_s, headers=headers)
            content = json_of(answer)
        if not isinstance(content, Mapping):
            raise AgentFault("the answer holds no result", cause="bad_shape")
        return content

    async def close(self) -> None:
        await self._web.close()


def _interface_in(card: Any, base: str) -> _Interface:
    """The first interface of a card that is spoken here and at the address of the spec.

    Raises:
        ProviderFault: there is none.
    """
    listed = card.get("supportedInterfaces") if isinstance(card, Mapping) else None
    interfaces = [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
    for each in interfaces:
        binding, version = each.get("protocolBinding"), str(each.get("protocolVersion") or "")
        if binding in BINDINGS and version.partition(".")[0] == SPOKEN.partition(".")[0]:
            url = _at_same_place(str(each.get("url") or ""), base)
            return _Interface(url=url, is_rpc=binding == "JSONRPC", tenant=str(each.get("tenant") or ""))
    offered = ", ".join(f"{each.get('protocolBinding')} {each.get('protocolVersion')}" for each in interfaces)
    message = f"the agent's card offers {sanitize(offered)[:200] or 'no interface'}; spoken here: "
    message += " or ".join(f"{binding} {SPOKEN}" for binding in BINDINGS)
    raise ProviderFault(message, cause="bad_request", transient=False)


def _at_same_place(url: str, base: str) -> str:
    """The address of an interface, at the host that the spec names: key and question go nowhere else.

    >>> _at_same_place("http://localhost:9999/rpc", "http://127.0.0.1:9999")
    'http://127.0.0.1:9999/rpc'

    Raises:
        ProviderFault: it is at another host.
    """
    try:
        there, here = urlsplit(url), urlsplit(base)
        same_port = there.port == here.port
    except ValueError:
        there, here, same_port = urlsplit(""), urlsplit(base), False
    is_same = there.scheme == here.scheme and same_port and there.hostname == here.hostname
    both_local = is_loopback(there.hostname or "") and is_loopback(here.hostname or "")
    if not is_same and not (both_local and same_port and there.scheme == here.scheme):
        message = f"the agent's card points to {sanitize(url)[:200]!r}, not to {base!r}, which is allowed"
        raise ProviderFault(message, cause="bad_request", transient=False)
    return urlunsplit((here.scheme, here.netloc, there.path, "", ""))


def _message(question: Question) -> dict[str, Any]:
    """The question as one message of the user."""
    data = bytes_of(question)
    parts: list[dict[str, Any]] = []
    is_talk = any(message["role"] == "assistant" for message in question.messages)
    for message in question.messages:
        for text, block in _pieces(message):
            if block is None:
                said = f"{message['role']}: {text}" if is_talk else text
                parts.append({"text": sanitize(said), "mediaType": "text/plain"})
            else:
                media_type = block["media_type"]
                name = f"{block['sha256'][:12]}.{media_type.rpartition('/')[2]}"
                raw = base64_text(data[block["sha256"]])
                parts.append({"raw": raw, "mediaType": media_type, "filename": name})
    extra = {
        "version": VERSION,
        "sample_id": question.sample_id,
        "model": question.model_id,
        "seed": question.seed,
        "limits": dict(question.limits),
        "tools": list(question.tools),
        "mcp": question.tool_server.as_json() if question.tool_server else None,
    }
    return {
        "messageId": str(uuid.uuid4()),
        "role": "ROLE_USER",
        "parts": parts,
        "metadata": {"gnomon": extra},
    }


def _pieces(message: Message) -> Iterator[tuple[str, ImageBlock | VideoBlock | None]]:
    """The texts, pictures and videos of a message, in order."""
    content = message["content"]
    if not isinstance(content, list):
        yield content or "", None
        return
    for block in content:
        yield (block["text"], None) if block["type"] == "text" else ("", block)


def _state(task: Mapping[str, Any]) -> str:
    status = task.get("status")
    return str(status.get("state")) if isinstance(status, Mapping) else ""


def _answer(task: Mapping[str, Any], question: Question) -> AgentReply:
    """The reply of a task that has ended.

    Raises:
        AgentFault: it ended without an answer, by the name of its state.
    """
    state, status = _state(task), task.get("status")
    said = status.get("message") if isinstance(status, Mapping) else None
    if state != COMPLETED:
        words = _text([said] if isinstance(said, Mapping) else [])
        cause = NO_ANSWER.get(state, "bad_shape")
        raise AgentFault(f"the task ended as {sanitize(state)[:60] or 'nothing'}: {words[:300]}", cause=cause)
    artifacts = task.get("artifacts")
    holders = [each for each in artifacts if isinstance(each, Mapping)] if isinstance(artifacts, list) else []
    if not holders and isinstance(said, Mapping):
        holders = [said]
    return _reply(holders, [task], question)


def _reply(holders: list[Any], others: list[Any], question: Question) -> AgentReply:
    """A reply with the text of messages or artifacts, and what the metadata of any of them tells."""
    account: dict[str, Any] = {}
    for holder in (*others, *holders):
        metadata = holder.get("metadata")
        extra = metadata.get("gnomon") if isinstance(metadata, Mapping) else None
        account |= extra if isinstance(extra, Mapping) else {}
    steps, usage = account.get("steps"), account.get("usage")
    return reply_of(
        _text(holders),
        steps if isinstance(steps, list) else None,
        usage if isinstance(usage, Mapping) else None,
        question,
    )


def _text(holders: list[Any]) -> str:
    texts = []
    for holder in holders:
        parts = holder.get("parts")
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, Mapping) and isinstance(part.get("text"), str):
                texts.append(part["text"])
            elif isinstance(part, Mapping) and "data" in part:
                texts.append(json.dumps(part["data"], ensure_ascii=False))
    return "\n".join(texts)


def _fault_of(error: Mapping[str, Any]) -> GnomonError:
    message = sanitize(f"{error.get('code')}: {error.get('message')}")[:600]
    if error.get("code") == VERSION_NOT_SUPPORTED:
        return ProviderFault(message, cause="bad_request", transient=False)
    return AgentFault(message, cause="failed")


def a2a(spec: OutsideAgent) -> AskedAgent:
    """The agent whose card is below an address."""
    return AskedAgent(spec, _A2A(spec))
