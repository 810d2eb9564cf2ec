"""The service: checks over HTTP, as jobs that outlive the process, with a page to look at them."""

from factloop.core.extras import require

require("serve", "the service")
