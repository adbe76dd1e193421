"""Exchange: runs made elsewhere read as rows and traces, and rows written for others."""
