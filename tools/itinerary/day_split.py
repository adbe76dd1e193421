"""Days: which place on which day, so that the whole trip is best; exact over all splits."""

from collections.abc import Sequence

from tools.itinerary.schedule import DayProblem, Round, rounds


def best_split(
    days: Sequence[DayProblem], before: Sequence[tuple[int, int]] = (), *, fair: bool = False
) -> list[Round] | None:
    """One round a day over the same spots, each spot on exactly one day; None proves that there is none.

    All days list the same spots in the same order; their hours may differ. `before` holds over days: the
    first of a pair must not come on a later day than the second. Minimises what all days cost together;
    `fair` first shares the stays out as evenly as it goes, so that no day is left empty for a shorter walk.

    Raises:
        ValueError: there are no days, or more than MAX_SPOTS spots.
    """
    if not days:
        raise ValueError("a trip has at least one day")
    share = len(days[0].spots) // len(days) if fair else 0
    tables = [rounds(day) for day in days]
    whole = (1 << len(days[0].spots)) - 1
    for least in range(share, -1, -1):
        found = _split(days, tables, whole, before, least)
        if found is not None:
            return found
    return None


def _split(
    days: Sequence[DayProblem],
    tables: Sequence[dict[int, Round]],
    whole: int,
    before: Sequence[tuple[int, int]],
    least: int,
) -> list[Round] | None:
    best: dict[int, tuple[int, tuple[Round, ...]]] = {0: (0, ())}
    for number, full in enumerate(tables):
        table = {mask: done for mask, done in full.items() if mask.bit_count() >= least}
        if number == len(tables) - 1:
            masks = [(seen, whole ^ seen) for seen in best]
        else:
            masks = [(seen, part) for seen in best for part in table if not seen & part]
        found: dict[int, tuple[int, tuple[Round, ...]]] = {}
        for seen, part in masks:
            done = table.get(part)
            if done is None or not _in_order(seen, part, before):
                continue
            cost_m, earlier = best[seen]
            total = (cost_m + days[number].cost_m(done.metres, done.back_min), (*earlier, done))
            old = found.get(seen | part)
            if old is None or (total[0], _backs(total[1])) < (old[0], _backs(old[1])):
                found[seen | part] = total
        best = found
    return list(best[whole][1]) if whole in best else None


def _backs(done: tuple[Round, ...]) -> tuple[int, ...]:
    return tuple(one.back_min for one in done)


def _in_order(seen: int, part: int, before: Sequence[tuple[int, int]]) -> bool:
    """Whether nothing of this day waits for something that only comes on a later one."""
    here = seen | part
    return all(here >> first & 1 or not part >> then & 1 for first, then in before)
