"""Naive, independent oracles: plain Python over lists, written to be read, not to be fast.

Nothing here imports the package under test or runs SQL, so an error of the product cannot hide
behind the same error in its judge. Arithmetic is exact (`fractions.Fraction`) wherever the
definition allows it; only logarithms are floats.
"""
