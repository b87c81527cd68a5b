"""PrivacyFrost2 (Kiyomoto and Miyake 2014): a score-driven search of the generalization lattice."""

from anonymizer.algorithms.privacyfrost.compiling import compile_privacyfrost

__all__ = ["compile_privacyfrost"]
