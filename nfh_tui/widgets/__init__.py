"""What the screens are made of. Widgets know no database; what they show is given to them."""
