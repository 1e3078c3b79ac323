"""The worst pairs: the nearest impostors and the farthest genuine ones."""
