"""What people see of results: text, pages, figures."""
