"""The format and requirements of a release, shared by code that makes, verifies or reads one."""
