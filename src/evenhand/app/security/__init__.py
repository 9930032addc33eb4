"""Who may talk to the workbench: hosts, token and cookie, limits, and the headers of answers."""
