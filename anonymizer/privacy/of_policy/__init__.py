"""The guarantees that a policy requires: their requirements, rules and sizes."""
