"""The verifier: what is wrong with a plan, by pure code, each fault with a code and its evidence."""
