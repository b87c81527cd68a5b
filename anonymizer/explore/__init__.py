"""The desk: a policy tried out on a local page, and saved; it publishes nothing."""
