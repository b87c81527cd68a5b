"""Classes that take of every sensitive value about its share of the table."""
