"""Figures: functions from typed results to Altair charts."""
