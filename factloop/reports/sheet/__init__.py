"""Defines each table once: `table` has its contents, which `terminal`, `files` and the pages' `sheet.html.j2` show."""
