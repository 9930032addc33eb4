"""What a terminal shows: notices, progress, and the way a command ends."""
