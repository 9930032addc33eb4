"""What the workbench keeps: studies and their folders, uploads, the queue of runs, and the desk."""
