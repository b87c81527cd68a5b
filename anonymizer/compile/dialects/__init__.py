"""The SQL of other engines: one module per dialect, rewrites they share, and the check."""
