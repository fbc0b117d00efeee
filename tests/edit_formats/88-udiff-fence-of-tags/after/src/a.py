def depth():
    return 10


def width():
    return 2
