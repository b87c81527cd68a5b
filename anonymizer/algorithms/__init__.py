"""One module per algorithm: each compiles a policy and a profile to a plan, offline."""
