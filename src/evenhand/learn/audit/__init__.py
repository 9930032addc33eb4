"""Audits of trained classifiers."""
