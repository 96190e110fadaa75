"""Names of a query against names of the schema: which ones are unknown, what they may mean, and queries repaired so."""
