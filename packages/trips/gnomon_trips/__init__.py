"""Plans and verifies trips: benchmarks, tools, a planning agent, routes and pages."""
