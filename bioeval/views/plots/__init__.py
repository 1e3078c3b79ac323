"""Plots: displays that hold arrays and draw on a given axis; those of curves are specs.

A display picks arrays from results and computes no rate. The public way in is :mod:`bioeval.plot`.
"""
