"""Translation to the SQL of other engines: the base, shared rewrites, and the check."""
