"""Replies that no provider should send, one for each sample of a job, and how the trial that met it ends."""
# ruff: noqa: E501 a table

import gzip
import json
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gnomon.core.row import Row
from gnomon_workers.store import JobRecord, Store
from tests.agents.conftest import FakeProvider, serving
from tests.workers.conftest import create
from tests.workers.tiny_worker import context_of, run_job

USAGE = {"prompt_tokens": 26, "completion_tokens": 7, "total_tokens": 33}
CLEAN = 20  # samples of the job whose replies are as they should be
MODELS = {"direct": {}, "LiteLLM": {"options": {"drop_params": False}}}  # an option that is LiteLLM's alone


def said(
    content: Any = "A", *, usage: Any = USAGE, reason: Any = "stop", choice: Any = None, **message: Any
) -> str:
    """A completion that says A, but for what is changed."""
    message = {"role": "assistant", "content": content, **message}
    choices = [{"index": 0, "finish_reason": reason, "message": message, **(choice or {})}]
    head = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    return json.dumps({**head, "choices": choices, "usage": usage})


def calling(*calls: Any) -> str:
    return said(None, tool_calls=list(calls), reason="tool_calls")


def call(name: Any = "nosuch", arguments: Any = "{}", call_id: Any = "1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def http(head: str, body: bytes, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{head}\r\n\r\n".encode() + body


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


GOOD = said()
RIGHT = "answered"
PACKED = gzip.compress(GOOD.encode())
NOTHING = {"prompt_tokens": 26, "completion_tokens": 0, "total_tokens": 26}


Sent = str | bytes | Callable[[], str | bytes]  # a function makes what costs a second to make


@cache  # they are large: made when a test needs them
def bodies() -> dict[str, tuple[Sent, str]]:
    """What is sent as a body, text or bytes, and the stop reason over the direct path."""
    return {
        # Numbers
        "usage: 10³⁰ tokens": (said(usage={"prompt_tokens": 10**30, "completion_tokens": 7}), RIGHT),
        "usage: 2⁶³ tokens": (said(usage={"prompt_tokens": 2**63, "completion_tokens": 7}), RIGHT),
        "usage: negative": (said(usage={"prompt_tokens": -5, "completion_tokens": 7}), RIGHT),
        "usage: NaN": (GOOD.replace("26", "NaN"), RIGHT),
        "usage: Infinity": (GOOD.replace("26", "Infinity"), RIGHT),
        "usage: 1e999": (GOOD.replace("26", "1e999"), RIGHT),
        "usage: a number of 5,000 digits": (GOOD.replace("26", "9" * 5_000), "provider:bad_response"),
        "usage: text": (said(usage={"prompt_tokens": "26", "completion_tokens": "7"}), RIGHT),
        "usage: true": (said(usage={"prompt_tokens": True, "completion_tokens": True}), RIGHT),
        "usage: a list": (said(usage=[]), RIGHT),
        "usage: details of nonsense": (said(usage={**USAGE, "prompt_tokens_details": 3, "completion_tokens_details": [1]}), RIGHT),
        "usage: a cost of 10³⁰": (said(usage={**USAGE, "cost": 1e30}), RIGHT),
        "usage: absent": (said(usage=None), RIGHT),
        # Sizes
        "text of 10 MB": (cache(lambda: said("A" * 10_000_000)), "no_answer"),
        "a body of 60 MB": (cache(lambda: said("A" * 60_000_000)), "provider:bad_response"),
        "10,000 calls": (calling(*[call(call_id=str(number)) for number in range(10_000)]), "max_tool_calls"),
        "arguments of 10 MB": (calling(call(arguments="x" * 10_000_000)), "max_turns"),
        "a tool's name of 1 MB": (calling(call(name="x" * 1_000_000)), "max_turns"),
        "a call's id of 1 MB": (calling(call(call_id="x" * 1_000_000)), "max_turns"),
        "a finish reason of 1 MB": (said("A", reason="x" * 1_000_000), RIGHT),
        # Shapes
        "100,000 brackets": ("[" * 100_000, "provider:bad_response"),
        "arguments 900 deep": (calling(call(arguments=nested(900))), "max_turns"),
        "arguments as an object, 400 deep": (GOOD.replace('"A"', 'null, "tool_calls": [' + json.dumps(call()).replace('"{}"', nested(400)) + "]"), "max_turns"),
        "choices: NaN": ('{"choices": NaN}', "provider:bad_response"),
        "no choices": ('{"choices": []}', "provider:bad_response"),
        "null": ("null", "provider:bad_response"),
        "a message of text": ('{"choices": [{"message": "A"}]}', "provider:bad_response"),
        "one key twice": (GOOD[:-1] + ', "choices": []}', "provider:bad_response"),
        "broken arguments": (calling(call(arguments='{"a": NaN')), "max_turns"),
        "one id twice": (calling(call(), call("other")), "max_turns"),
        # Encodings
        "a lone surrogate": (said("\ud800"), "no_answer"),
        "a NUL": (said("A\0"), "no_answer"),
        "Latin-1": (GOOD.replace('"A"', '"é"').encode("latin-1"), "provider:bad_response"),
        "surrogates in a call": (calling(call("\ud800\0", "\udfff", "\ud800")), "max_turns"),
        "no JSON": ("<html>certainly not", "provider:bad_response"),
        "nothing": ("", "provider:bad_response"),
        # Ends
        "error in the choice": (said("", reason="error", choice={"error": {"code": 502, "message": "died"}}), "provider:server_error"),
        "broken off after words": (said("A", reason="abort"), "provider:server_error"),
        "an unknown reason": (said("", reason="weird"), "provider:bad_response"),
        "a reason that is a number": (said("A", reason=7), RIGHT),
        "empty, of no token": (said("", usage=NOTHING), "provider:bad_response"),
        "empty": (said(""), "no_answer"),
        "a filter": (said("", reason="SAFETY"), "model:refused"),
        "a broken call": (said("", reason="MALFORMED_FUNCTION_CALL"), "model:malformed_call"),
        "200 with an error": ('{"error": {"code": 402, "message": "pay"}}', "provider:quota"),
    }  # fmt: skip


@cache
def raw() -> dict[str, tuple[Sent, str]]:
    """What is sent as it is, and the same."""
    return {
        "gzip, cut": (http(f"Content-Encoding: gzip\r\nContent-Length: {len(PACKED)}", PACKED[:-20]), "provider:connection"),
        "gzip that is none": (http(f"Content-Encoding: gzip\r\nContent-Length: {len(GOOD)}", GOOD.encode()), "provider:connection"),
        "gzip of 200 MB": (cache(lambda: http("Content-Encoding: gzip\r\nConnection: close", gzip.compress(b" " * 200_000_000, 1))), "provider:bad_response"),
        "chunks of garbage": (http("Transfer-Encoding: chunked", b"zz\r\nA\r\n0\r\n\r\n"), "provider:bad_response"),
        "half a body": (http(f"Content-Length: {len(GOOD)}", GOOD.encode()[: len(GOOD) // 2]), "provider:connection"),
        "no HTTP": (b"\x16\x03\x01 certainly not HTTP\r\n\r\n", "provider:bad_response"),
        "a header of 1 MB": (http("X: " + "x" * 1_000_000, GOOD.encode()), "provider:bad_response"),
        "a status of 999": (http(f"Content-Length: {len(GOOD)}", GOOD.encode(), "999 Odd"), "provider:server_error"),
        "hung up": (b"", "provider:connection"),
    }  # fmt: skip


def hostile() -> dict[str, tuple[Sent, str]]:
    """All of them, by name."""
    return {**bodies(), **raw()}


@dataclass(frozen=True, slots=True)
class Damage:
    """What one reply has cost: how its trial ended, after how many calls."""

    stop_reason: str
    calls: int
    flags: tuple[str, ...]


# What costs seconds to read.
LARGE = {"text of 10 MB", "a body of 60 MB", "10,000 calls", "arguments of 10 MB", "gzip of 200 MB"}


@contextmanager
def hostile_provider(but: Collection[str] = ()) -> Iterator[FakeProvider]:
    """A provider that sends question s0 the first of hostile(), s1 the second, …, and all others a good reply,
    as it does in place of what is named in `but`.
    """
    left_out = {number for number, name in enumerate(hostile()) if name in but}
    with serving() as provider:
        for name, (body, _) in bodies().items():
            provider.answers(200, _made(body) if name not in but else GOOD)
        for name, (sent, _) in raw().items():
            provider.sends(_made(sent) if name not in but else b"")
        provider.answers(200, GOOD)
        good = len(hostile())
        provider.choose = lambda request: good if asked(request) in left_out else min(asked(request), good)
        yield provider


def _made(sent: Sent) -> Any:
    return sent() if callable(sent) else sent


def asked(request: dict[str, Any]) -> int:
    """The number of the question."""
    found = re.search(r"Question s(\d+):", json.dumps(request))
    assert found is not None
    return int(found[1])


def run_against(provider: FakeProvider, store: Store, folder: Path, path: str) -> JobRecord:
    """Run a job with one sample for each hostile reply, and CLEAN others; pauses between tries are short."""
    models = [{"id": "openai/m", "api_base": provider.url, **MODELS[path]}]
    arm = {"name": "a", "agent": "react", "max_turns": 2}
    limits, retry = {"trial_seconds": 120}, {"base_s": 0.01}
    job = create(store, len(hostile()) + CLEAN, models=models, arms=[arm], limits=limits, retry=retry)
    run_job(job, context_of(store, folder))
    return store.job(job.id)


def damage(provider: FakeProvider, rows: list[Row]) -> tuple[dict[str, Damage], list[Row]]:
    """What each hostile reply has cost its own trial, and the rows of the clean samples."""
    calls = [asked(request) for request in provider.requests]
    by_number = {int(row.sample_id[1:]): row for row in rows}
    found = {
        name: Damage(by_number[number].stop_reason, calls.count(number), by_number[number].flags)
        for number, name in enumerate(hostile())
    }
    return found, [row for number, row in by_number.items() if number >= len(hostile())]
