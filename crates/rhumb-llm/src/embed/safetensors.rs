//! Reading tensors: a length, a table in JSON, and the numbers. As much of the format as models of word vectors use.

use serde_json::{Map, Value};

/// A longer table is none, in bytes.
const MAX_TABLE: usize = 16 * 1024 * 1024;

/// The tensors of a file.
#[derive(Debug)]
pub(super) struct Tensors<'b> {
    table: Map<String, Value>,
    numbers: &'b [u8],
}

/// One tensor.
#[derive(Debug)]
pub(super) struct Tensor<'b> {
    /// Its lengths, the outermost first.
    pub(super) shape: Vec<usize>,
    form: String,
    bytes: &'b [u8],
}

impl<'b> Tensors<'b> {
    /// Reads the table of a file; in words what is wrong with it.
    pub(super) fn read(bytes: &'b [u8]) -> Result<Self, String> {
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or("it is too short")?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok().filter(|length| *length <= MAX_TABLE);
        let (table, numbers) = length.and_then(|length| rest.split_at_checked(length)).ok_or("it is cut off")?;
        let table = serde_json::from_slice(table).map_err(|error| format!("its table is damaged: {error}"))?;
        Ok(Self { table, numbers })
    }

    /// A tensor by its name; `None` where there is none. In words what is wrong with it.
    pub(super) fn get(&self, name: &str) -> Result<Option<Tensor<'b>>, String> {
        let Some(entry) = self.table.get(name) else { return Ok(None) };
        let whole = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
        let all = |field: &str| -> Option<Vec<usize>> { entry.get(field)?.as_array()?.iter().map(whole).collect() };
        let read = || {
            let shape = all("shape")?;
            let form = entry.get("dtype")?.as_str()?.to_owned();
            let &[from, to] = all("data_offsets")?.as_slice() else { return None };
            let bytes = self.numbers.get(from..to)?;
            let count = shape.iter().try_fold(1usize, |count, length| count.checked_mul(*length))?;
            let is_whole = count.checked_mul(size_of(&form)?)? == bytes.len();
            is_whole.then_some(Tensor { shape, form, bytes })
        };
        read().map(Some).ok_or_else(|| format!("its tensor {name} is damaged or of a form that is not known"))
    }
}

impl Tensor<'_> {
    /// Its numbers.
    pub(super) fn numbers(&self) -> Vec<f32> {
        match self.form.as_str() {
            "F64" => self.each(|bytes| f64::from_le_bytes(bytes) as f32),
            "F32" => self.each(f32::from_le_bytes),
            "F16" => self.each(|bytes| half(u16::from_le_bytes(bytes))),
            "BF16" => self.each(|bytes| f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16)),
            "I64" => self.each(|bytes| i64::from_le_bytes(bytes) as f32),
            "I32" => self.each(|bytes| i32::from_le_bytes(bytes) as f32),
            _ => self.each(|[byte]: [u8; 1]| f32::from(byte.cast_signed())),
        }
    }

    /// Its numbers as places; one that is none is out of every table.
    pub(super) fn places(&self) -> Vec<usize> {
        let place = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
        match self.form.as_str() {
            "I64" => self.each(|bytes| place(i64::from_le_bytes(bytes))),
            "I32" => self.each(|bytes| place(i64::from(i32::from_le_bytes(bytes)))),
            _ => Vec::new(),
        }
    }

    fn each<const N: usize, T>(&self, read: impl Fn([u8; N]) -> T) -> Vec<T> {
        self.bytes.as_chunks::<N>().0.iter().map(|bytes| read(*bytes)).collect()
    }
}

/// Bytes of a number.
fn size_of(form: &str) -> Option<usize> {
    Some(match form {
        "F64" | "I64" => 8,
        "F32" | "I32" => 4,
        "F16" | "BF16" => 2,
        "I8" => 1,
        _ => return None,
    })
}

/// A number of 16 bits: a sign, five bits of exponent, ten of fraction.
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff) / 1_024.0);
    let size = match exponent {
        0 => fraction * 2f32.powi(-14),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction) * 2f32.powi(exponent - 15),
    };
    sign * size
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(table: &str, numbers: &[u8]) -> Vec<u8> {
        [&(table.len() as u64).to_le_bytes()[..], table.as_bytes(), numbers].concat()
    }

    #[test]
    fn numbers_of_every_form_are_read() {
        let table = r#"{"__metadata__":{"a":"b"},
            "f32":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"f16":{"dtype":"F16","shape":[4],"data_offsets":[8,16]},
            "i8":{"dtype":"I8","shape":[2],"data_offsets":[16,18]},"i64":{"dtype":"I64","shape":[1],"data_offsets":[18,26]},
            "bf16":{"dtype":"BF16","shape":[1],"data_offsets":[26,28]},"f64":{"dtype":"F64","shape":[1],"data_offsets":[28,36]}}"#;
        let mut numbers = Vec::new();
        numbers.extend([1.5f32, -2.0].iter().flat_map(|number| number.to_le_bytes()));
        numbers.extend([0x3c00u16, 0xc000, 0x0001, 0x3555].iter().flat_map(|number| number.to_le_bytes()));
        numbers.extend([255, 127]);
        numbers.extend(7i64.to_le_bytes());
        numbers.extend(0x3fc0u16.to_le_bytes());
        numbers.extend(0.25f64.to_le_bytes());
        let bytes = file(table, &numbers);
        let tensors = Tensors::read(&bytes).unwrap();
        let get = |name| tensors.get(name).unwrap().unwrap();
        assert_eq!((get("f32").numbers(), get("f32").shape), (vec![1.5, -2.0], vec![1, 2]));
        assert_eq!(get("f16").numbers(), [1.0, -2.0, 2f32.powi(-24), 0.333_251_95]);
        assert_eq!((get("i8").numbers(), get("i64").places()), (vec![-1.0, 127.0], vec![7]));
        assert_eq!((get("bf16").numbers(), get("f64").numbers()), (vec![1.5], vec![0.25]));
        assert!(tensors.get("none").unwrap().is_none());
    }

    #[test]
    fn what_is_damaged_is_told() {
        for bytes in [&b""[..], b"1234567", &u64::MAX.to_le_bytes(), &file("{", b""), &file("[]", b"")] {
            assert!(Tensors::read(bytes).is_err(), "{bytes:?}");
        }
        for entry in [
            r#"{"dtype":"F32","shape":[2],"data_offsets":[0,4]}"#,
            r#"{"dtype":"F32","shape":[1],"data_offsets":[4,0]}"#,
            r#"{"dtype":"F32","shape":[2],"data_offsets":[0,8]}"#,
            r#"{"dtype":"F8","shape":[4],"data_offsets":[0,4]}"#,
            r#"{"dtype":"F32","shape":[18446744073709551615,2],"data_offsets":[0,4]}"#,
            r#"{"dtype":"F32"}"#,
            "1",
        ] {
            let bytes = file(&format!("{{\"t\":{entry}}}"), &[0; 4]);
            assert!(Tensors::read(&bytes).unwrap().get("t").is_err(), "{entry}");
        }
    }
}
