"""`python -m gnomon_service.cli` is `gnomon`."""

from gnomon_service.cli.main import main

if __name__ == "__main__":
    main()
