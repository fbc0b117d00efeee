a = 2
b = 2
c = 2
d = 2
