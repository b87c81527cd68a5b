"""Made tables that look like real ones, for tests and benchmarks."""
