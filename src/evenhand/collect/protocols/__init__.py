"""The protocols: how one person's value becomes one report, and what each protocol promises."""
