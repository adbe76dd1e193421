"""What the analyses share: their two kinds, and how judges' labels are counted."""
