"""One module a noun. They are imported when their command is called, not before."""
