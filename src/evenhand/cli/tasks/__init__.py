"""What the commands need for one kind of study: its options, its plan, its closing table."""
