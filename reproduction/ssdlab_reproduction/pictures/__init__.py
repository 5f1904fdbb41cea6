"""The papers' figures, drawn from our data, as far as the papers' text defines them."""
