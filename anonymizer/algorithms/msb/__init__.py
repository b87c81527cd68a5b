"""Several sensitive attributes with security levels: multi-sensitive bucketization."""
