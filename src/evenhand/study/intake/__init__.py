"""From a file that a person names to a schema and a plan."""
