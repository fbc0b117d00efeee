fn a() {
    one();
}
fn b() {
    two();
}
