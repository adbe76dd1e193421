"""Motion: boxes and camera poses frame by frame, what is true of them, and questions made of that."""
