"""Changes a plan that was made here, and verifies what comes out."""

from pydantic import ValidationError

from gnomon.benchmarks.itinerary.brief import request_task
from gnomon.benchmarks.itinerary.scoring import score
from gnomon.benchmarks.itinerary.task import Task
from gnomon.core.errors import DataError, SpecError
from gnomon.itinerary_export.result import TripResult, result_of
from tools.itinerary.errors import BadArgument, PlaceError
from tools.itinerary.plan import Plan
from tools.itinerary.provider import answered
from tools.itinerary.replanning import Change, Replanned, changed_plan


def changed(record: object, change: Change) -> tuple[TripResult, Replanned, float | None]:
    """A plan of this service as JSON, changed: the new trip, what differs, and its score.

    Raises:
        SpecError: the record holds no plan with its request, or the change does not fit it.
        DataError: the provider failed.
    """
    if not (isinstance(record, dict) and isinstance(record.get("request"), dict) and "plan" in record):
        raise SpecError("must be a plan as `gnomon itinerary --out trip.json` writes it", field="plan")
    trip = request_task(record["request"]).trip
    try:
        plan = Plan.model_validate(record["plan"])
        replanned = answered(changed_plan(plan, trip, change), is_local=trip.provider.is_local)
    except (ValidationError, BadArgument) as error:
        raise SpecError(str(error), field="change") from None
    except PlaceError as error:
        raise DataError(f"{error.code}: {error}", field="plan") from None
    task = Task(family="request", form="plan", trip=replanned.trip)
    scored = score(task, replanned.draft.model_dump_json(exclude_defaults=True))
    return result_of(scored.answer), replanned, scored.value
