"""A first policy for a table: guesses at roles, with their reasons."""
