"""What is known about SQL text; nothing here opens a database."""
