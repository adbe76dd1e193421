"""How a sample is answered: each public module here is one agent, `models` what they ask."""
