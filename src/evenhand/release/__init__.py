"""Releases: tables that a curator publishes, by noise or by disclosure avoidance, and what each one promises."""
