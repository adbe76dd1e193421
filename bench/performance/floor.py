"""Runs the workload in a bare loop over one aiohttp session, the floor that no harness can undercut.

python -m bench.performance.floor BASE TRIALS IN_FLIGHT FOLDER
"""

import asyncio
import json
import sys

import aiohttp

from bench.meter import Meter
from bench.performance.workload import QUESTION, TOOL

_NUMBER = {"type": "number"}
SCHEMA = {
    "type": "function",
    "function": {
        "name": TOOL,
        "description": "Compute the mean speed over a distance in metres and a duration in seconds.",
        "parameters": {"type": "object", "properties": {"distance_m": _NUMBER, "seconds": _NUMBER}},
    },
}


async def _trial(session: aiohttp.ClientSession, url: str) -> bool:
    messages: list[dict[str, object]] = [{"role": "user", "content": QUESTION}]
    while True:
        body = {"model": "mock", "messages": messages, "tools": [SCHEMA], "tool_choice": "auto"}
        async with session.post(url, json=body) as response:
            message = (await response.json())["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            return "B" in message["content"]
        for call in message["tool_calls"]:
            given = json.loads(call["function"]["arguments"])
            content = json.dumps({"speed_mps": given["distance_m"] / given["seconds"]})
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})


async def run(base: str, trials: int, in_flight: int) -> int:
    """How many trials were answered rightly."""
    right, left = 0, trials

    async def worker(session: aiohttp.ClientSession) -> None:
        nonlocal right, left
        while left > 0:
            left -= 1
            is_right = await _trial(session, f"{base}/chat/completions")
            right += is_right

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(worker(session) for _ in range(in_flight)))
    return right


def main() -> None:
    base, trials, in_flight = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    asyncio.run(run(base, 5, 5))
    meter = Meter()
    meter.report(right=asyncio.run(run(base, trials, in_flight)))


if __name__ == "__main__":
    main()
