"""Pictures of the page: SVG with marks that say what they are when pointed at or focused."""
