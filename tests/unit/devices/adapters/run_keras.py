#!/usr/bin/env python3
"""The same stand-in as Keras."""
import os
import runpy

runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "run_onnxruntime.py"))
