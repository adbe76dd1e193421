"""Clusters of samples that have something in common, also by way of others."""

from collections.abc import Iterable, Mapping

from gnomon.core.ids import stable_hash


def clusters_by_shared(shared: Mapping[str, Iterable[str]], what: str) -> dict[str, str]:
    """The cluster of each sample id, joined by the things that each is about; `what` begins the names.

    >>> cities = {"1": ["Rome"], "2": ["Oslo"], "3": ["Rome", "Bern"], "4": []}
    >>> clusters = clusters_by_shared(cities, "cities")
    >>> clusters["1"] == clusters["3"], len(set(clusters.values()))
    (True, 3)
    """
    parents: dict[str, str] = {}

    def root(name: str) -> str:
        parents.setdefault(name, name)
        while parents[name] != name:
            parents[name] = parents[parents[name]]
            name = parents[name]
        return name

    for sample_id, things in shared.items():
        for thing in things:
            parents[root(f"thing {thing}")] = root(f"sample {sample_id}")
    members: dict[str, list[str]] = {}
    for sample_id in shared:
        members.setdefault(root(f"sample {sample_id}"), []).append(sample_id)
    return {name: f"{what} {stable_hash(sorted(kin), size=8)}" for kin in members.values() for name in kin}
