fn a() {
    one();
}
