"""Conditions of an arm: each module is one, and says what it changes of a trial."""
