"""The pages of the workbench: what is shown, and what each control does."""
