"""Shortcuts on the embedded engine: each gives the result of the plain check, or none.

If a shortcut proves nothing, the plain check is run. `fast_release` and `fast_source` answer the
plain questions; the other modules make their statements.
"""
