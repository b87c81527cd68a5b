"""The desk: try out and save a policy on a local page. It publishes nothing."""
