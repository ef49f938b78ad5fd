"""``python -m webagent``: the command line."""

from webagent.cli import main

if __name__ == "__main__":
    main()
