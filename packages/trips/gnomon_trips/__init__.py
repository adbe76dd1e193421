"""Plans and verifies trips, with benchmarks, tools, a planning agent, routes and pages."""
