"""Tests of the ops."""
