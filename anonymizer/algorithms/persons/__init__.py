"""What algorithms share that work on persons: units, boxes, and the judging of groups."""
