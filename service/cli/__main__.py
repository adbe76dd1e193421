"""`python -m service.cli` is `gnomon`."""

from service.cli.main import main

if __name__ == "__main__":
    main()
