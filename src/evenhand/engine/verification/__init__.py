"""Whether what was published is what was written: each release, and a folder of them as a whole."""
