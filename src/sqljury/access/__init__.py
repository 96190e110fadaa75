"""Access rules: which tables, columns and rows a query may see. Fails closed."""
