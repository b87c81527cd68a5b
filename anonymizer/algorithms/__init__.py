"""One package per algorithm: each compiles a policy and a profile to a plan, without a database."""
