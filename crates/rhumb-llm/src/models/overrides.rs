//! What the user says of a model, over what the tables say: `[models."name"]` in the settings.

use serde::{Deserialize, Deserializer};

use super::model::{Caching, Model, Reminder, Source, ThinkingControl};
use super::price::Prices;
use rhumb_edit::EditFormat;

/// What the user sets for the models of one name. Everything that is absent stays as the tables have it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelOverride {
    /// Input and output together, in tokens.
    pub window: Option<usize>,
    /// The most tokens of an answer.
    pub max_output: Option<usize>,
    /// US dollars for a million tokens of input. A price that is set here holds for long requests, too.
    #[serde(deserialize_with = "price")]
    pub input_price: Option<f64>,
    /// The same for output.
    #[serde(deserialize_with = "price")]
    pub output_price: Option<f64>,
    /// The same for input that came from the server's cache; as `input_price` where neither says.
    #[serde(deserialize_with = "price")]
    pub cache_read_price: Option<f64>,
    /// The same for input that was put into it; as `input_price` where neither says.
    #[serde(deserialize_with = "price")]
    pub cache_write_price: Option<f64>,
    /// Whether it takes images.
    pub images: Option<bool>,
    /// Whether an answer that was cut off can be gone on with by sending its beginning.
    pub prefill: Option<bool>,
    /// Whether it takes a sampling temperature.
    pub temperature: Option<bool>,
    /// Whether messages may have the system role.
    pub system_role: Option<bool>,
    /// How its prompt cache is used: `none`, `by-prefix` or `marked`.
    pub caching: Option<Caching>,
    /// How its thinking is set: `none`, `effort`, `budget` or `both`.
    pub thinking: Option<ThinkingControl>,
    /// The format in which it writes edits: `diff`, `diff-fenced`, `udiff`, `whole` or `patch`.
    #[serde(deserialize_with = "edit_format")]
    pub edit_format: Option<EditFormat>,
    /// Where it is reminded of that format: `none`, `user` or `system`.
    pub reminder: Option<Reminder>,
    /// Whether it is told not to leave code out.
    pub lazy: Option<bool>,
    /// Whether it is told not to do more than was asked.
    pub overeager: Option<bool>,
    /// The model for summaries.
    pub weak: Option<String>,
    /// The model that writes the edits in architect mode.
    pub editor: Option<String>,
}

impl ModelOverride {
    /// The names of all fields as they are written, in the order of the documentation.
    pub const FIELDS: [&str; 18] = [
        "window",
        "max_output",
        "input_price",
        "output_price",
        "cache_read_price",
        "cache_write_price",
        "images",
        "prefill",
        "temperature",
        "system_role",
        "caching",
        "thinking",
        "edit_format",
        "reminder",
        "lazy",
        "overeager",
        "weak",
        "editor",
    ];

    /// Lays what is set over `model`.
    pub fn apply(&self, model: &mut Model) {
        if let Some(window) = self.window {
            (model.window, model.known, model.source) = (window, true, Source::User);
        }
        lay(&mut model.max_output, self.max_output.map(Some));
        model.prices = self.prices(model.prices);
        let can = &mut model.capabilities;
        lay(&mut can.images, self.images);
        lay(&mut can.prefill, self.prefill);
        lay(&mut can.temperature, self.temperature);
        lay(&mut can.system_role, self.system_role);
        lay(&mut can.caching, self.caching);
        lay(&mut can.thinking, self.thinking);
        lay(&mut model.edit_format, self.edit_format);
        lay(&mut model.reminder, self.reminder);
        lay(&mut model.lazy, self.lazy);
        lay(&mut model.overeager, self.overeager);
        lay(&mut model.weak, self.weak.clone().map(Some));
        lay(&mut model.editor, self.editor.clone().map(Some));
    }

    /// The prices after this; unknown as long as one of input and output is.
    fn prices(&self, known: Option<Prices>) -> Option<Prices> {
        if [self.input_price, self.output_price, self.cache_read_price, self.cache_write_price] == [None; 4] {
            return known;
        }
        let input = self.input_price.or(known.map(|prices| prices.input))?;
        let output = self.output_price.or(known.map(|prices| prices.output))?;
        // A price of the table for cached tokens belongs to the table's price of input.
        let table = known.filter(|_| self.input_price.is_none());
        Some(Prices {
            input,
            output,
            cache_read: self.cache_read_price.or(table.map(|prices| prices.cache_read)).unwrap_or(input),
            cache_write: self.cache_write_price.or(table.map(|prices| prices.cache_write)).unwrap_or(input),
            long: None,
        })
    }
}

fn lay<T>(under: &mut T, over: Option<T>) {
    if let Some(over) = over {
        *under = over;
    }
}

/// A price below nothing would hide what is spent.
fn price<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    match Option::<f64>::deserialize(deserializer)? {
        Some(price) if !price.is_finite() || price < 0.0 => {
            Err(serde::de::Error::custom(format!("expected a price from 0, found {price}")))
        }
        price => Ok(price),
    }
}

fn edit_format<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<EditFormat>, D::Error> {
    let name = Option::<String>::deserialize(deserializer)?;
    name.map(|name| name.parse().map_err(serde::de::Error::custom)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ModelOverride {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn what_is_set_wins_and_the_rest_stays() {
        let mut model = Model { max_output: Some(4_096), lazy: true, ..Model::unknown("m") };
        read("window = 65536\nedit_format = \"udiff\"\nthinking = \"both\"\nreminder = \"none\"\nweak = \"small\"\n")
            .apply(&mut model);
        assert_eq!((model.window, model.known, model.source), (65_536, true, Source::User));
        assert_eq!((model.max_output, model.lazy), (Some(4_096), true));
        assert_eq!((model.edit_format, model.reminder), (EditFormat::Udiff, Reminder::None));
        assert_eq!(model.capabilities.thinking, ThinkingControl::Both);
        assert_eq!(model.weak.as_deref(), Some("small"));
    }

    #[test]
    fn half_a_price_is_no_price() {
        let mut model = Model::unknown("m");
        read("input_price = 1.0\n").apply(&mut model);
        assert_eq!(model.prices, None);
        read("input_price = 1.0\noutput_price = 2\ncache_read_price = 0.1\n").apply(&mut model);
        let whole = Prices { input: 1.0, output: 2.0, cache_read: 0.1, cache_write: 1.0, long: None };
        assert_eq!(model.prices, Some(whole));
        read("output_price = 3.0").apply(&mut model);
        assert_eq!(model.prices, Some(Prices { output: 3.0, ..whole }));
    }

    #[test]
    fn a_field_or_value_that_is_none_is_told() {
        for (text, told) in [
            ("windw = 1", "windw"),
            ("output_price = -1.0", "from 0"),
            ("input_price = nan", "NaN"),
            ("edit_format = \"xml\"", "xml"),
            ("caching = \"yes\"", "yes"),
        ] {
            let error = toml::from_str::<ModelOverride>(text).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn the_list_of_fields_is_whole() {
        let error = toml::from_str::<ModelOverride>("zzz = 1").unwrap_err().to_string();
        let listed: Vec<String> = ModelOverride::FIELDS.iter().map(|field| format!("`{field}`")).collect();
        assert!(error.contains(&listed.join(", ")), "{error}");
    }
}
