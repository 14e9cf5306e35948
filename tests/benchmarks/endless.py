"""An entrant that never ends."""

if __name__ == "__main__":
    while True:
        pass
