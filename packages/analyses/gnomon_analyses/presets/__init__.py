"""Sets of arms that analyses and sections read; each module is one."""
