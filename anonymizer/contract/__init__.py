"""Format and requirements of a release, shared by the code that makes, verifies or reads one."""
