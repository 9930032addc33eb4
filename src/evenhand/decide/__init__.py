"""Deciding: who gains and who loses when money and rights follow private data."""
