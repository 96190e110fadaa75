"""Training of the learned parts, and the sets they are trained on."""
