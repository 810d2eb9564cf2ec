"""factloop as a server of the Model Context Protocol, for agents of any make. Needs the extra `mcp`."""

from factloop.core.extras import require

require("mcp", "the MCP server")
