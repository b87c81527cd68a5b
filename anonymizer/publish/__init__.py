"""Targets of a release: files, the source's own database, other engines; export and rewrite."""
