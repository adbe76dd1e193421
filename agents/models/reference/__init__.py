"""Reference: a deterministic policy that answers like any model, from messages and tool schemas alone."""
