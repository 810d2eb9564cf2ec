"""The service. It runs checks over HTTP as jobs that survive restarts, and has a web page for viewing them."""

from factloop.core.extras import require

require("serve", "the service")
