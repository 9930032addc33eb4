"""The task collect: people randomise columns, a model is trained on the reports."""
