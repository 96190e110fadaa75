"""Benchmarks as lists of examples: a question, its gold query and the database that both are about."""
