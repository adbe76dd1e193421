"""Writes the clusters of a sample as one text: a name, or a name by each of several factors.

Samples may be kin by their scene and by their template at once. Then the text is the JSON list
`["scene 3","turns"]`: a name for each factor, in one order for the whole job. A sample that is kin to none by
a factor has a name of its own there.
"""

import json
from collections.abc import Iterable, Sequence
from itertools import chain

from gnomon_tools.core.json_text import json_value


def cluster_names(text: str) -> tuple[str, ...]:
    """The name by each factor; one where the text is a plain name, none where it is empty.

    >>> cluster_names("scene 3"), cluster_names('["scene 3","turns"]'), cluster_names("")
    (('scene 3',), ('scene 3', 'turns'), ())
    """
    names = _listed(text)
    return names or ((text,) if text else ())


def cluster_text(names: Sequence[str]) -> str:
    """The text of these names: `cluster_names` gives them back.

    >>> cluster_text(["scene 3"]), cluster_text(["scene 3", "turns"]), cluster_text([])
    ('scene 3', '["scene 3","turns"]', '')
    """
    if not names or (len(names) == 1 and not _listed(names[0])):
        return "".join(names)
    return json.dumps(list(names), ensure_ascii=False, separators=(",", ":"))


def read_cluster(written: object) -> object:
    """The text of clusters as files write them: a name, a list of names, or a JSON list in a text.

    What is none of these is given back as it is.

    >>> read_cluster(["scene 3", "turns"]), read_cluster('["scene 3", "turns"]'), read_cluster("[3] Bern")
    ('["scene 3","turns"]', '["scene 3","turns"]', '[3] Bern')
    """
    listed = written
    if isinstance(written, str) and written.startswith("["):
        listed = json_value(written)
    if not isinstance(listed, list | tuple) or not all(isinstance(name, str | int | None) for name in listed):
        return written
    return cluster_text(["" if name is None else str(name).strip() for name in listed])


def filled(text: str, sample_id: str) -> str:
    """The text with the sample's own name by each factor of several that lacks one.

    >>> filled('["scene 3",""]', "7"), filled("", "7")
    ('["scene 3","7"]', '')
    """
    return cluster_text([name or sample_id for name in cluster_names(text)])


def coarsest(clusters: Sequence[str]) -> list[str]:
    """The names by the factor that has the fewest: what one-way estimates take for the clusters.

    >>> coarsest(['["a","t"]', '["b","t"]']), coarsest(["a", "b"])
    (['t', 't'], ['a', 'b'])
    """
    factors = list(zip(*map(cluster_names, clusters), strict=False))
    return list(min(factors, key=lambda names: len(set(names)))) if len(factors) > 1 else list(clusters)


def words_on_factors(clusters: Iterable[str]) -> str:
    """How samples are kin by several factors, in words; empty where there is one.

    >>> words_on_factors(['["a","t"]', '["b","t"]']), words_on_factors(["a", "b"])
    ('samples are kin by 2 factors, in 2 and 1 clusters', '')
    """
    left = iter(clusters)
    first = next(left, "")
    if len(cluster_names(first)) < 2:
        return ""  # here: a generated set may have millions
    factors = list(zip(*map(cluster_names, chain([first], left)), strict=False))
    counts = [f"{len(set(names)):,}" for names in factors]
    return f"samples are kin by {len(counts)} factors, in {', '.join(counts[:-1])} and {counts[-1]} clusters"


def cluster_words(text: str) -> str:
    """The clusters for people.

    >>> cluster_words("scene 3"), cluster_words('["scene 3","turns"]')
    ('scene 3', 'scene 3 × turns')
    """
    return " × ".join(cluster_names(text))


def _listed(text: str) -> tuple[str, ...]:
    """The names of a list as `cluster_text` writes it; none of any other text, which is a name itself."""
    if not (text.startswith('["') and text.endswith('"]')):
        return ()
    names = json_value(text, otherwise=())
    is_written_here = all(isinstance(name, str) for name in names) and text == json.dumps(
        names, ensure_ascii=False, separators=(",", ":")
    )
    return tuple(names) if is_written_here and (len(names) > 1 or _listed(names[0])) else ()
