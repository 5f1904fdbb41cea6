"""The claims of each paper: how our figures are found."""
