"""Process-level helpers: files, signals, a run's folder and secret, text and HTML."""
