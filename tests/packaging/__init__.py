"""What is installed and shipped: metadata, bundled data, distributions, the README's commands."""
