"""The pass over finished classes that lowers their loss: new classes in blocks, then swaps."""
