"""An MCP server: agents ask databases, and get the evidence with the answer (docs/mcp.md)."""
