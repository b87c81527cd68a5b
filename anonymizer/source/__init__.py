"""The table to anonymize: its profile, the roles of its columns, and its snapshot."""
