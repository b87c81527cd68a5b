"""The least loss that any grouping of the table could have, as far as it can be proven."""
