"""Statistics of paired comparisons; small, exact, tested against outside oracles."""
