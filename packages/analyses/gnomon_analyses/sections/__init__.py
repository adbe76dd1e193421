"""Sections of the report beside its verdicts; each module is one."""
