"""The formats of other tools; each module is one."""
