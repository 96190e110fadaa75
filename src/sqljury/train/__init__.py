"""Training of the learned parts, and the training sets that they learn from."""
