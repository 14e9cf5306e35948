"""Ways to the third moment, projected: the only form in which the method needs it."""
