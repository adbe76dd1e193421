"""A small agent for the examples: it looks the places of a question up with the tools that it is handed.

Whatever its loop is like, an agent gets a question by the contract of docs/outside-agents.md and gives an
answer. This one has no language model: it calls one tool, if there is one, and picks an option.
"""

import json
import re
import urllib.request
from typing import Any


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """The answer to a question, with the steps on the way to it."""
    steps: list[dict[str, Any]] = []
    cameras = ""
    if question["mcp"] and any(tool["function"]["name"] == "list_cameras" for tool in question["tools"]):
        cameras = call_tool(question["mcp"], "list_cameras", {})
        steps.append({"tool": "list_cameras", "arguments": {}, "result": cameras})
    text = text_of(question["messages"][-1])
    options = re.findall(r"^\(?([A-E])[).:]", text, re.MULTILINE) or ["A"]
    choice = options[len(cameras) % len(options)]
    steps.append({"text": f"I choose {choice} of {', '.join(options)}."})
    return {"answer": f"Answer: {choice}", "steps": steps, "usage": {"model_calls": 0}}


def text_of(message: dict[str, Any]) -> str:
    """The text of a message; pictures are in the question's `media`, at the places that its blocks name."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")


def call_tool(server: dict[str, Any], name: str, arguments: dict[str, Any]) -> str:
    """Call a tool of an MCP server over streamable HTTP, without any library: the text of its result.

    An agent with an MCP client of its own gives it `server["url"]` and `server["headers"]` instead.
    """
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }
    headers = {
        **server["headers"],
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
    }
    request = urllib.request.Request(server["url"], data=json.dumps(call).encode(), headers=headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        result = json.load(response)["result"]
    return "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
