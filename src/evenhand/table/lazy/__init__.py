"""Lazy frames of any engine, counted where their rows are."""
