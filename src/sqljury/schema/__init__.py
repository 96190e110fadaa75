"""What a database holds: read out of it, and written down for a model."""
