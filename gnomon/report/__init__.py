"""The report: arms, paired contrasts, flips, tools, cost, integrity."""
