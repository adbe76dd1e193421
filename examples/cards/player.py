"""Plays a model by rules, for comparison with a real one: `python player.py CALLS --port 8816`.

An OpenAI-compatible endpoint of the standard library alone. CALLS is `calls.jsonl` of `write_questions.py`.
With the tool that answers a question it calls it, and believes the result; it slips now and then, so that its
first call lacks an argument. Without the tool, or where a result holds no answer, it says the answer of
another question. It shows what the server's results are worth, not what a model makes of them.
"""

import argparse
import hashlib
import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


def drawn(*texts: object) -> int:
    """A whole number that the same texts always give."""
    return int.from_bytes(hashlib.sha256("|".join(map(str, texts)).encode()).digest()[:8], "big")


def text_of(content: object) -> str:
    """The words of a message."""
    if isinstance(content, list):
        return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))
    return str(content or "")


def reply(body: dict[str, Any], calls: list[dict[str, Any]]) -> dict[str, Any]:
    """The next turn of a conversation."""
    messages = body["messages"]
    asked = "\n".join(text_of(message["content"]) for message in messages if message["role"] == "user")
    call = next((call for call in calls if call["question"] in asked), None)
    if call is None:
        return {"role": "assistant", "content": "I do not know."}
    may_call = body.get("tool_choice") != "none"
    names = [tool["function"]["name"] for tool in body.get("tools") or [] if may_call]
    tool = next((name for name in names if name.split("__")[-1] == call["tool"]), None)
    results = [text_of(message["content"]) for message in messages if message["role"] == "tool"]
    found = re.search(call["found"], results[-1]) if results else None
    if tool and not found and len(results) < 2:
        slips = not results and drawn(asked, "slip") % 10 == 0
        function = {"name": tool, "arguments": json.dumps({} if slips else call["arguments"])}
        made = [{"id": f"call_{len(results)}", "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": made}
    others = [other["answer"] for other in calls if other["task"] == call["task"] and other is not call]
    guess = others[drawn(asked, "guess") % len(others)]
    return {"role": "assistant", "content": f"Answer: {found[1] if found else guess}"}


class Handler(BaseHTTPRequestHandler):
    """Answers chat completions."""

    protocol_version = "HTTP/1.1"
    calls: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = reply(body, self.calls)
        read, written = len(json.dumps(body)) // 4, len(json.dumps(message)) // 4
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        answer = {
            "id": "c",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
        }
        sent = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        """Say nothing of each request."""


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("calls", type=Path)
    parser.add_argument("--port", type=int, default=8816)
    options = parser.parse_args()
    Handler.calls = [json.loads(line) for line in options.calls.read_text(encoding="utf-8").splitlines()]
    ThreadingHTTPServer(("127.0.0.1", options.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
