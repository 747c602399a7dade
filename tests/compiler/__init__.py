"""Tests of the native compiler."""
