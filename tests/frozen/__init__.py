"""The frozen corpus: what policies gave when they were last approved."""
