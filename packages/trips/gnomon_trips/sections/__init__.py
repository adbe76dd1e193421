"""Sections of the report on plans; each module is one."""
