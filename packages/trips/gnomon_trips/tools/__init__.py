"""Tools that plan trips; each module is one."""
