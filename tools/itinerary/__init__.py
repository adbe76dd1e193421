"""Trips: places, ways, requests, plans, the scheduler and the verifier behind the itinerary tools."""
