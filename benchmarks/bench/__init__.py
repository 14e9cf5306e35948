"""``halfseen bench``: cases beside every peer, each in a process of its own, and their page."""
