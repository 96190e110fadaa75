"""The HTTP API and the page of ``sqljury serve``; ``app.create`` puts them together."""
