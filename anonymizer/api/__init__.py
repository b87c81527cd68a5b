"""The Python API: every command as a function, with data frames as input and output."""
