"""The use cases of a run, as Python functions: what `webagent`'s public face gives to people.

The command line calls the same ones and adds only what is shown. Each opens the store that it needs
and closes it again. They name no adapter: wiring does.
"""
