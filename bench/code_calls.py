"""What a call of a tool through the interpreter of the agent `code` costs, and what its start does.

Run: python -m bench.code_calls. Prints medians; no model is asked.
"""

import asyncio
import statistics
import time
from collections.abc import Mapping
from typing import Any

from agents.code_runtime.interpreter import Interpreter

CALLS, TRIALS, ROUNDS = 500, 40, 5


async def _nothing(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    return {"metres": 41.3, "seconds": 12}


async def _seconds(code: str, *, fresh: bool = True) -> float:
    python = Interpreter({"tool"}, _nothing, seed=1)
    if not fresh:
        await python.run("1")
    started = time.perf_counter()
    run = await python.run(code)
    took = time.perf_counter() - started
    assert not run.error, run
    await python.close()
    return took


async def main() -> None:
    """Print what each part takes."""
    first = await _seconds("1")
    trials = [await _seconds("1") for _ in range(TRIALS)]
    blocks = [await _seconds("1", fresh=False) for _ in range(TRIALS)]
    loop = f"for i in range({CALLS}):\n    tool(i, place={{'x_m': 1.5}})"
    calls = [(await _seconds(loop, fresh=False)) / CALLS for _ in range(ROUNDS)]
    started = time.perf_counter()
    pythons = [Interpreter({"tool"}, _nothing, seed=n) for n in range(TRIALS)]
    await asyncio.gather(*(python.run("[tool(i) for i in range(10)]") for python in pythons))
    together = time.perf_counter() - started
    await asyncio.gather(*(python.close() for python in pythons))
    print(f"the first block of a process        {first * 1e3:8.1f} ms, with the library's import")
    print(
        f"a trial's first block               {statistics.median(trials) * 1e3:8.1f} ms (median of {TRIALS})"
    )
    print(f"a further block                     {statistics.median(blocks) * 1e3:8.1f} ms")
    print(f"a call of a tool in a loop          {statistics.median(calls) * 1e3:8.2f} ms (of {CALLS} calls)")
    print(f"{TRIALS} trials at once, 10 calls each  {together:8.2f} s, most of it the processes' start")


if __name__ == "__main__":
    asyncio.run(main())
