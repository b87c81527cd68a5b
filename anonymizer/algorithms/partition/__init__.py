"""Top-down partitioning, shared by all algorithms that cut classes."""
