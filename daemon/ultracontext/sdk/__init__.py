"""Contexts and sessions for programs."""
