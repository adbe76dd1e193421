"""Sets of arms for curating published questions; each module is one."""
