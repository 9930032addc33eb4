"""What each step of the workbench says and does, as plain functions that a separate process runs."""
