"""One module per algorithm: policy and profile in, plan out; no connection in sight."""
