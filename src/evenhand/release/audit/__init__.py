"""A published table compared with the true one."""
