"""The workload of every system: CALLS calls of one tool, then an answer, by an OpenAI-compatible server."""

CALLS = 3  # tool calls of a trial; with the answer it asks the model CALLS + 1 times
TOOL = "speed"  # one that costs next to nothing: what tools cost is measured on its own
ARGUMENTS = '{"distance_m":105.0,"seconds":75.0}'
ANSWER = "The answer is B."
QUESTION = (
    "A person leaves the view of camera c1 at 10:00:00 and comes into the view of camera c3 at 10:01:15. "
    "The way between them along the roads is 105 m long. Use the tool to find out how fast the person walks. "
    "A: 0.7 m/s  B: 1.4 m/s  C: 2.1 m/s  D: 2.8 m/s. Answer with the letter of the right option, and say why."
)


def ideal_s(trials: int, *, in_flight: int, latency_s: float) -> float:
    """Wall of a system that costs nothing: rounds of trials, each CALLS + 1 latencies long.

    >>> ideal_s(1000, in_flight=100, latency_s=0.2)
    8.0
    """
    return trials * (CALLS + 1) * latency_s / in_flight
