"""A pretend model, made of rules, for the cards of this folder.

They show what a card tells, not what a model can. It is an OpenAI-compatible endpoint
(`python player.py --port 8902`, standard library alone) and knows four forms of questions. Where it may call
a tool that fits, it does, and believes the result; where a result holds no answer it guesses, and so it does
without tools: one guess in four is right, where it can reckon. It slips now and then: its first call lacks
an argument, and it tries again.
"""

import argparse
import ast
import hashlib
import json
import operator
import re
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from zoneinfo import ZoneInfo

SUM = re.compile(r"What is ([-+*/(). \d]+)\?")
TIME = re.compile(r"It is (\d\d:\d\d) in (\S+)\. What time is it in (\S+?)\?")
PERSON = re.compile(r"At which desk does ([A-Z]\w+ [A-Z]\w+) sit\?")
CAMERAS = re.compile(r"(How far is it|What is the bearing).* from camera (\w+) to camera (\w+)")
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def drawn(*texts: object) -> float:
    """A number in [0, 1) that the same texts always give."""
    digest = hashlib.sha256("|".join(map(str, texts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def wanted_call(question: str, names: list[str]) -> tuple[str, dict[str, object]] | None:
    """The tool that fits the question and its arguments; None where none is offered."""

    def named(ending: str) -> str | None:
        return next((name for name in names if name.split("__")[-1] == ending), None)

    if match := SUM.search(question):
        calls = [("calculate", {"expression": match[1].strip()})]
    elif match := TIME.search(question):
        zones = {"source_timezone": match[2], "time": match[1], "target_timezone": match[3]}
        calls = [("convert_time", zones)]
    elif match := PERSON.search(question):
        calls = [("read_text_file", {"path": "people.md"})]
    elif match := CAMERAS.search(question):
        ends = {"start": {"camera": match[2]}, "end": {"camera": match[3]}}
        calls = [("distance" if match[1].startswith("How far") else "bearing", ends)]
    else:
        return None
    return next(((tool, arguments) for ending, arguments in calls if (tool := named(ending))), None)


def read_off(question: str, result: str) -> str | None:
    """The answer that a result holds; None where it holds none."""
    if SUM.search(question):
        numbers = re.findall(r"-?\d+(?:\.\d+)?", result.replace(",", ""))
        return numbers[-1] if numbers else None
    if TIME.search(question):
        times = re.findall(r'"datetime": "[^"]*T(\d\d:\d\d)', result)
        return times[-1] if times else None
    if match := PERSON.search(question):
        desk = re.search(rf"{match[1]} sits at desk (\d+)", result)
        return desk[1] if desk else None
    field = "straight_m" if "How far" in question else "bearing_deg"
    measured = re.search(rf'"{field}": (-?[\d.]+)', result)
    return measured[1] if measured else None


def guess(question: str, seed: object) -> str:
    """What it says without a tool: the right answer one time in four, where it can know it."""
    is_lucky = drawn(question, seed, "luck") < 0.25
    if match := SUM.search(question):
        value = value_of(ast.parse(match[1].strip(), mode="eval").body)
        return f"{value if is_lucky else value + 1 + round(9 * drawn(question, 'off')):g}"
    if match := TIME.search(question):
        then = datetime.fromisoformat(f"2026-01-15T{match[1]}").replace(tzinfo=ZoneInfo(match[2]))
        shift = 0 if is_lucky else 1 + round(4 * drawn(question, "off"))
        return (then.astimezone(ZoneInfo(match[3])) + timedelta(hours=shift)).strftime("%H:%M")
    if PERSON.search(question):
        return f"{101 + round(297 * drawn(question, seed))}"
    return f"{round(20 + 300 * drawn(question, seed))}"


def value_of(node: ast.expr) -> float:
    """The value of a sum."""
    if isinstance(node, ast.Constant):
        return float(str(node.value))
    if isinstance(node, ast.UnaryOp):
        return -value_of(node.operand)
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](value_of(node.left), value_of(node.right))
    raise ValueError("no sum")


def text_of(content: object) -> str:
    """The words of a message."""
    if isinstance(content, list):
        return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))
    return str(content or "")


def reply(body: dict) -> dict:
    """The next turn of a conversation."""
    messages = body["messages"]
    question = next(text_of(message["content"]) for message in messages if message["role"] == "user")
    may_call = bool(body.get("tools")) and body.get("tool_choice") != "none"
    names = [tool["function"]["name"] for tool in body.get("tools") or []] if may_call else []
    results = [text_of(message["content"]) for message in messages if message["role"] == "tool"]
    call = wanted_call(question, names)
    if call and (not results or (len(results) == 1 and read_off(question, results[0]) is None)):
        tool, arguments = call
        slips = not results and arguments and drawn(question, "slip") < 0.1
        function = {"name": tool, "arguments": json.dumps({} if slips else arguments)}
        said = [{"id": f"call_{len(results)}", "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": said}
    answer = read_off(question, results[-1]) if results else None
    return {"role": "assistant", "content": f"Answer: {answer or guess(question, body.get('seed'))}"}


class Handler(BaseHTTPRequestHandler):
    """Answers chat completions."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = reply(body)
        sizes = [len(json.dumps(body)) // 4, len(json.dumps(message)) // 4]
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        sent = json.dumps(
            {
                "id": "c",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": finish}],
                "usage": {
                    "prompt_tokens": sizes[0],
                    "completion_tokens": sizes[1],
                    "total_tokens": sum(sizes),
                },
            }
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        """Says nothing of each request."""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8902)
    server = ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), Handler)
    print(f"player at http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()
