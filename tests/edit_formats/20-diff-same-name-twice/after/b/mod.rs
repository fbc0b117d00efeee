fn b() { a() }
