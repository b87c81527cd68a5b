"""The five papers rerun: claims, measurements, verdicts, one page each."""
