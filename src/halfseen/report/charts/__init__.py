"""SVG charts of the page."""
