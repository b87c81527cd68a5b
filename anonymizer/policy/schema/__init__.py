"""The policy of several tables: one person, many rows, published together."""
