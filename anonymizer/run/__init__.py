"""One run: prepare the source, compile, execute, judge, publish."""
