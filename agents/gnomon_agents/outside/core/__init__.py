"""What all agents from outside share: how one is asked, what is read of its answer, tools handed to it."""
