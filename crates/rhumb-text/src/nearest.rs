//! What was probably meant by a name that there is not.

/// As alike two names must be, by Jaro and Winkler: 1 is the same.
const ALIKE: f64 = 0.8;

/// How many letters a name must have for one slip to leave it recognisable.
const MIN_SLIPPED: usize = 3;

/// Of `names` the one that was probably meant by `name`, if any is near enough: one slip of the finger away (a letter too many, too
/// few, another one, or two exchanged), or nearly the same by Jaro and Winkler. Case, `-` and `_` make no difference.
pub fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let plain = |name: &str| name.to_ascii_lowercase().replace('_', "-");
    let name = plain(name);
    let rated = names.map(|other| (other, strsim::jaro_winkler(&name, &plain(other))));
    let (best, rating) = rated.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let one_slip = name.len() >= MIN_SLIPPED && strsim::osa_distance(&name, &plain(best)) == 1;
    (rating > ALIKE || one_slip).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_near_and_another_word_is_not() {
        let names = ["map_tokens", "search", "theme", "map"];
        let meant = |name: &str| nearest(name, names.into_iter());
        assert_eq!(
            (meant("serach"), meant("Map-Token"), meant("theem"), meant("mop")),
            (Some("search"), Some("map_tokens"), Some("theme"), Some("map"))
        );
        assert_eq!(["notes.txt", "zzz", ""].map(meant), [None; 3]);
        assert_eq!(nearest("map", std::iter::empty()), None);
    }
}
