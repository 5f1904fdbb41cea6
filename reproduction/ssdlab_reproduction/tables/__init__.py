"""Programs that write the measured tables of the documentation."""
