"""Tools on gazetteers and on what a map service answered; each module is one."""
