"""Shows tables. `table` defines their contents, which `terminal`, `files` and the template `sheet.html.j2` lay out."""
