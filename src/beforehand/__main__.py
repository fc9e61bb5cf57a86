"""`python -m beforehand` is the same as the `beforehand` command."""

from beforehand.cli import main

if __name__ == "__main__":
    main()
