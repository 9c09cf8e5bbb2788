"""`python -m ultracontext.cli`."""

from ultracontext.cli.entry import main

if __name__ == "__main__":
    main()
