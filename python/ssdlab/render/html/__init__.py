"""Reports as HTML files that need nothing but a browser."""
