"""Values and rows out of HTML: pure functions over regions that a browser copied.

Wiring makes an `extractor.Extractor`; the browser executor is given it as a protocol.
"""
