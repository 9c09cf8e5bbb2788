"""`python -m ultracontext.cli`."""

from ultracontext.cli.main import main

if __name__ == "__main__":
    main()
