def depth():
    return 1


def width():
    return 2
