"""The bilge pump."""


class Pump:
    def __init__(self, rate):
        self.rate = rate
        self.running = False

    def start(self):
        # the float switch may be stuck
        if self.running:
            raise RuntimeError("pump is running")
        self.running = True

    def stop(self):
        self.running = False
