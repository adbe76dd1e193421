"""Worth: the mean and interval of shortcuts and of answer letters, cell by cell."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from gnomon.audit.findings import Letters, ShortcutAccuracy
from gnomon.audit.hook import Asked, ShortcutGuess, View
from gnomon.core.sample import SampleRef
from gnomon.statistics.design import design
from gnomon.statistics.mean import mean_score, share_interval

Key = tuple[str, str, View]


def shortcut_accuracies(
    plays: Iterable[ShortcutGuess], refs: Mapping[str, SampleRef]
) -> tuple[ShortcutAccuracy, ...]:
    """What each shortcut is worth in each cell and view, in the order in which they were first played."""
    groups: dict[Key, list[ShortcutGuess]] = defaultdict(list)
    for play in plays:
        groups[play.shortcut, refs[play.sample_id].cell, play.view].append(play)
    return tuple(_worth(cell, group, refs) for (_, cell, _), group in groups.items())


def _worth(cell: str, plays: Sequence[ShortcutGuess], refs: Mapping[str, SampleRef]) -> ShortcutAccuracy:
    clusters = np.unique([refs[play.sample_id].cluster for play in plays], return_inverse=True)[1]
    grouping = design(np.zeros(len(plays), dtype=np.intp), clusters.astype(np.intp))
    values = np.array([play.value for play in plays])
    mean, estimate = mean_score(values, grouping), grouping.estimate(values, limits=(0.0, 1.0))
    chances = [play.chance for play in plays if play.chance is not None]
    applied = [play for play in plays if play.applies]
    return ShortcutAccuracy(
        shortcut=plays[0].shortcut,
        kind=plays[0].kind,
        cell=cell,
        view=plays[0].view,
        n=len(plays),
        applies=len(applied),
        hits=sum(play.value for play in applied),
        value=mean.mean,
        chance=sum(chances) / len(chances) if chances else None,
        clusters=mean.clusters,
        ci95=mean.ci95 if applied else None,
        ci99=share_interval(estimate, 0.99) if applied and estimate.se is not None else None,
        method=mean.method if applied else "none: it never applies",
    )


def letters(asked: Mapping[str, Asked], refs: Mapping[str, SampleRef], view: View) -> tuple[Letters, ...]:
    """How often each letter is right, cell by cell."""
    cells: dict[str, list[Asked]] = defaultdict(list)
    for sample_id, one in asked.items():
        cells[refs[sample_id].cell].append(one)
    return tuple(_letters(cell, cells[cell], view) for cell in sorted(cells))


def _letters(cell: str, asked: Sequence[Asked], view: View) -> Letters:
    right = Counter(one.right[0] for one in asked)
    most = max(len(one.options) for one in asked)
    return Letters(
        cell=cell,
        view=view,
        n=len(asked),
        counts={chr(ord("A") + index): right[index] for index in range(most)},
        best=max(right.values()) / len(asked),
        chance=sum(1 / len(one.options) for one in asked) / len(asked),
    )
