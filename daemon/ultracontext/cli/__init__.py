"""The command line. `main.main` is the entry point; `output` is the one place that prints."""
