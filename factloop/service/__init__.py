"""The service, which offers checks over HTTP as jobs that outlive the process, and a web page to view the jobs."""

from factloop.core.extras import require

require("serve", "the service")
