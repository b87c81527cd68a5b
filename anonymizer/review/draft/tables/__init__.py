"""A draft policy for all tables of a database: keys, links, the persons' table, roles."""
