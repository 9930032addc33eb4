"""Reports drawn by the workers of a cluster: the tasks, the unfinished folder, and the driver's run."""
