"""Strict ESM+: the rules that hold on every database."""
