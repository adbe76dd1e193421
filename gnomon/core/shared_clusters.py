"""Clusters of samples that have something in common, also by way of others."""

from collections.abc import Iterable, Mapping

from gnomon.core.ids import stable_hash


def kin_by_shared(shared: Mapping[str, Iterable[object]]) -> list[list[str]]:
    """The names that have a thing in common, also by way of others, a list for each kin.

    >>> kin_by_shared({"1": ["Rome"], "2": ["Oslo"], "3": ["Rome", "Bern"], "4": []})
    [['1', '3'], ['2'], ['4']]
    """
    parents: dict[object, object] = {}

    def root(node: object) -> object:
        parents.setdefault(node, node)
        while parents[node] != node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node

    for name, things in shared.items():
        for thing in things:
            parents[root(("thing", thing))] = root(("name", name))
    members: dict[object, list[str]] = {}
    for name in shared:
        members.setdefault(root(("name", name)), []).append(name)
    return list(members.values())


def clusters_by_shared(shared: Mapping[str, Iterable[str]], what: str) -> dict[str, str]:
    """The cluster of each sample id, joined by the things that each is about; `what` begins the names.

    >>> cities = {"1": ["Rome"], "2": ["Oslo"], "3": ["Rome", "Bern"], "4": []}
    >>> clusters = clusters_by_shared(cities, "cities")
    >>> clusters["1"] == clusters["3"], len(set(clusters.values()))
    (True, 3)
    """
    return {
        name: f"{what} {stable_hash(sorted(kin), size=8)}" for kin in kin_by_shared(shared) for name in kin
    }
