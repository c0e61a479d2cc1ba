"""The command line from a checkout: `python cli.py …`. Installed, it is `hermes-state`."""

from hermes_state.commands import main

if __name__ == "__main__":
    main()
