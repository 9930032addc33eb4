"""The question form of each kind of study: its fields, its task, its promise, and what doing it means."""
