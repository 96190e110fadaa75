"""Training: sets of examples, adapters for the language model, and the light judge."""
