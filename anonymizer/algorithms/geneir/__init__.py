"""The algorithm `geneir`: bottom-up generalization of persons under identity-reserved guarantees.

Source: Tong, Tao, Tang, Yang, "Identity-reserved anonymity in privacy preserving data publishing"
(2010), as Wang et al. (2018, §5.1 and §6.1.3) describe it.
"""
