"""Itineraries: generated trips on real maps, with a known optimum or a proof that there is no plan."""

from gnomon.benchmarks.itinerary.benchmark import itinerary

__all__ = ["itinerary"]
