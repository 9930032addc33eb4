"""The exact delta of each mechanism, rounded up."""
