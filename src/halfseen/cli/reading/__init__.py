"""Tables of commands: columns chosen, put on their scales, and given to models."""
