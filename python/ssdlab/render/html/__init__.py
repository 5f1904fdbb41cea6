"""Reports as HTML files that need only a browser."""
