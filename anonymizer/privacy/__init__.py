"""Privacy models: SQL rules that judge a class (`rule`), and their descriptors (`guarantee`)."""
