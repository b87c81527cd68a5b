"""Privacy models: rules in SQL that judge a class (`rule`), and descriptors (`guarantee`)."""
