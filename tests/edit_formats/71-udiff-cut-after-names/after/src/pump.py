import time


def start():
    time.sleep(2)
