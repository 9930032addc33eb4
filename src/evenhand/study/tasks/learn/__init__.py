"""The task learn: classifiers are trained with privacy and with parity."""
