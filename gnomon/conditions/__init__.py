"""Holds the conditions of an arm; each module says what one of them changes of a trial."""
