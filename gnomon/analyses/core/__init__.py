"""What the analyses share: their two kinds, scores by model and group, and judges' labels counted."""
