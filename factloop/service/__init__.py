"""The service: runs checks over HTTP as jobs that survive restarts, and has a web page."""

from factloop.core.extras import require

require("serve", "the service")
