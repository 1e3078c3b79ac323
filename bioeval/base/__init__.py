"""What every layer may use: errors, result variables, argument checks, random numbers."""
