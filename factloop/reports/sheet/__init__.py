"""Shows tables. `table` defines their contents, which `terminal`, `files` and the `sheet.html.j2` template render."""
