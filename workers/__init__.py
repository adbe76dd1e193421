"""What takes shards off the queue and runs their trials; the store is the truth."""
