"""PublicEncoder: features made from public knowledge alone."""
