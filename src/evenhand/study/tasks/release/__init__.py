"""The task release: a table is published and compared with the true one."""
