"""factloop as a Model Context Protocol server for any agent. Needs the `mcp` extra."""

from factloop.core.extras import require

require("mcp", "the MCP server")
