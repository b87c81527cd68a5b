"""The algorithm `danonyir`: clustering of persons under identity-reserved guarantees.

Source: Wang, Du, Luo, Li, "Two privacy-preserving approaches for data publishing with identity
reservation" (2018), algorithms 1 to 7.
"""
