"""Analyses from the papers, over stored rows and traces: each public module here is one."""
