"""Independent normal columns given the component, with outliers and spikes allowed for."""
