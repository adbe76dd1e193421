"""How often rules of thumb find the answers of generated questions: `python -m bench.difficulty`.

Draws fresh questions of each level on all cores and prints, for each rule of thumb and level, its rate with
Wilson's 95 % interval, then what was measured of the questions and the CPU milliseconds that one took.
"""

import math
import multiprocessing
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence

from bench.tables import head_of, line_of, parser_of, tell
from gnomon.benchmarks.gtr_bench.case import TASKS
from gnomon.benchmarks.gtr_bench.rules_of_thumb import scores_of, taken
from gnomon.core.select import AS_IT_COMES, LEVELS
from gnomon.statistics.estimate import wilson
from gnomon_worlds.difficulty import CHANCE, Difficulty
from gnomon_worlds.drawing import draw
from gnomon_worlds.features import features_of
from gnomon_worlds.options import WorldOptions
from gnomon_worlds.question import evidence_of
from gnomon_worlds.sample_numbers import CELLS, Number

Measured = tuple[str, Mapping[str, float], Mapping[str, float], float]  # task, rules, features, CPU seconds


def measured(work: tuple[int, str, int, WorldOptions | None, tuple[str, ...]]) -> list[Measured]:
    """The questions of one round, in one town and one building."""
    seed, level, round_, options, tasks = work
    difficulty = None if level == AS_IT_COMES else Difficulty.from_tag(level)
    questions = []
    for place, (_, task_id) in enumerate(CELLS):
        if TASKS[task_id].short not in tasks:
            continue
        began_s = time.process_time()
        drawn = draw(Number(seed, round_ * len(CELLS) + place, difficulty, options))
        took_s = time.process_time() - began_s
        question, task = drawn.question, TASKS[drawn.question.task_id].short
        asked = question.middle.camera if task == "ATI" and question.middle else ""
        seen = evidence_of(drawn.world, task, question.clip_sightings, asked=asked)
        right, rates = question.options.index(question.right[0]), {}
        for rule, by_option in scores_of(seen, question.options).items():
            left = taken([by_option[option] for option in question.options]) or range(len(question.options))
            rates[rule] = (right in left) / len(left)
        questions.append((task, rates, features_of(drawn.world, question), took_s))
    return questions


def table(by_level: Mapping[str, Sequence[Measured]]) -> list[str]:
    """The lines of the tables."""
    lines = [head_of(["rule of thumb", "task", *by_level])]
    rates: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for level, questions in by_level.items():
        for task, by_rule, _, _ in questions:
            for rule, rate in by_rule.items():
                rates[rule, task][level].append(rate)
    for (rule, task), by_rate in sorted(rates.items()):
        lines.append(line_of([rule, task, *(_rate(by_rate[level]) for level in by_level)]))
    lines += ["", head_of(["median of", *by_level])]
    for name in ("detour", "gap_m", "gap_s", "junctions", "turns", "cameras_between", "closeness"):
        medians = [
            _median([features[name] for _, _, features, _ in questions if name in features])
            for questions in by_level.values()
        ]
        lines.append(line_of([name, *(f"{median:.2f}" for median in medians)]))
    costs = [
        1e3 * math.fsum(took_s for *_, took_s in questions) / len(questions)
        for questions in by_level.values()
    ]
    lines.append(line_of(["CPU ms per question (mean)", *(f"{cost:.0f}" for cost in costs)]))
    return lines


def _rate(values: Sequence[float]) -> str:
    share = math.fsum(values) / len(values)
    low, high = wilson(share, len(values))
    mark = "" if low <= CHANCE <= high else "**"
    return f"{mark}{100 * share:.1f}{mark} ({100 * low:.0f}–{100 * high:.0f})"


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2] if values else math.nan


def main() -> None:
    """Print the tables."""
    parser = parser_of(__doc__)
    parser.add_argument(
        "--questions", type=int, default=2_800, help="of each level; rounded up to rounds of 14"
    )
    parser.add_argument("--levels", nargs="+", default=[AS_IT_COMES, *LEVELS])
    parser.add_argument("--seed", type=int, default=1_000)
    shorts = [task.short for task in TASKS.values()]
    parser.add_argument("--tasks", nargs="+", default=shorts, choices=shorts)
    parser.add_argument("--world", default="", help="as `gnomon generate worlds` takes it")
    chosen = parser.parse_args()
    options = WorldOptions.of(dict(part.split("=") for part in chosen.world.split(",") if part))
    rounds = -(-chosen.questions // len(CELLS))
    by_level: dict[str, list[Measured]] = {}
    with multiprocessing.Pool() as pool:
        for level in chosen.levels:
            work = [(chosen.seed, level, round_, options, tuple(chosen.tasks)) for round_ in range(rounds)]
            by_level[level] = [question for found in pool.imap(measured, work) for question in found]
    tell(f"{rounds * 2 * len(chosen.tasks):,} questions a level, seed {chosen.seed}; bold: not at chance\n")
    tell("\n".join(table(by_level)))


if __name__ == "__main__":
    main()
