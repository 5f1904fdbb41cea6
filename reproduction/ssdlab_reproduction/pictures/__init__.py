"""The papers' figures, drawn from our data: those that their text lets one know."""
