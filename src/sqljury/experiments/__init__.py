"""What reproduces the papers' tables from runs."""
