"""Figures as SVG and PNG, the same bytes for the same data, legible without colour."""
