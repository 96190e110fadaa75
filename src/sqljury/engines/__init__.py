"""A benchmark's SQLite databases on other engines: copies of them, and gold translated and checked."""
