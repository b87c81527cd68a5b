"""A draft policy for a table: guessed roles, with their reasons."""
