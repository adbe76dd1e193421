"""Sets of arms on planned trips; each module is one."""
