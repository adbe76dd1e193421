"""The only place where everything is put together: REST API and command line."""
