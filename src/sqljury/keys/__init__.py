"""Keys that nobody declared: candidate keys and foreign keys inferred from names, types and values."""
