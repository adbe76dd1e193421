"""The trips of a job, for the benchmark `plan-pairs`."""

from gnomon.exchange.format import LINES, Format
from gnomon_trips.plans_write import files

plans = Format(
    name="plans", about="plans.jsonl, the trips for plan-pairs", files=files, media_type=LINES, is_single=True
)
