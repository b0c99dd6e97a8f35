"""Which head a numeric fused head has. Importing it loads no framework."""
