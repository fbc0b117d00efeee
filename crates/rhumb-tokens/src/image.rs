//! What a picture costs in a request, by the published rules of the families of models.

use imagesize::ImageType;

/// The longest side to which Anthropic's servers scale a picture, in pixels.
const ANTHROPIC_SIDE: f64 = 1_568.0;

/// The most that a picture costs there after that, in tokens.
const ANTHROPIC_MOST: usize = 1_600;

/// The cost of a picture whose size cannot be read, in pixels a side.
const UNREADABLE: (usize, usize) = (1_024, 1_024);

/// The media type of the picture in a file, as its first bytes tell it; `None` for any that models do not take.
pub fn picture_type(bytes: &[u8]) -> Option<&'static str> {
    match imagesize::image_type(bytes).ok()? {
        ImageType::Png => Some("image/png"),
        ImageType::Jpeg => Some("image/jpeg"),
        ImageType::Gif => Some("image/gif"),
        ImageType::Webp => Some("image/webp"),
        _ => None,
    }
}

/// Width and height of the picture in a file, in pixels, if its first bytes tell.
pub fn picture_size(bytes: &[u8]) -> Option<(usize, usize)> {
    imagesize::blob_size(bytes).ok().map(|size| (size.width, size.height))
}

/// How much of a picture an OpenAI model looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// A thumbnail, at one price.
    Low,
    /// All of it.
    High,
}

/// The rule by which a family of models charges for pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageCost {
    /// OpenAI: a base price, and one for each tile of 512 pixels a side after scaling into 2,048 pixels and to 768 on the shorter
    /// side.
    Tiles {
        /// Tokens of any picture.
        base: usize,
        /// Tokens of a tile.
        tile: usize,
        /// How much is looked at.
        detail: Detail,
    },
    /// Anthropic: width × height ÷ 750 after scaling, at most 1,600.
    Area,
    /// Google: 258 for a picture of at most 384 pixels a side, else for each tile of about 768.
    Crops,
}

/// The largest picture that servers take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureLimit {
    /// Bytes of the file.
    pub bytes: usize,
    /// Pixels of its longer side, if that is limited.
    pub side: Option<usize>,
}

impl ImageCost {
    /// The largest picture that such models take, by the documentation of their makers. Where the limit is one on what is sent,
    /// which is base64, a file may have three quarters of it.
    pub fn limit(self) -> PictureLimit {
        match self {
            Self::Area => PictureLimit { bytes: 5 * 1024 * 1024 / 4 * 3, side: Some(8_000) },
            Self::Crops => PictureLimit { bytes: 20 * 1024 * 1024 / 4 * 3, side: None },
            Self::Tiles { .. } => PictureLimit { bytes: 20 * 1024 * 1024, side: None },
        }
    }

    /// The rule for a model, by its name; OpenAI's for one that is not known.
    pub fn for_model(model: &str) -> Self {
        let name = model.to_ascii_lowercase();
        let bare = name.rsplit('/').next().unwrap_or(&name);
        if bare.contains("claude") {
            Self::Area
        } else if bare.contains("gemini") || bare.contains("gemma") {
            Self::Crops
        } else {
            let (base, tile) = match bare {
                _ if bare.starts_with("gpt-4o-mini") => (2_833, 5_667),
                _ if bare.starts_with("gpt-5") => (70, 140),
                _ if bare.starts_with("o1") || bare.starts_with("o3") => (75, 150),
                _ => (85, 170),
            };
            Self::Tiles { base, tile, detail: Detail::High }
        }
    }

    /// Tokens of the picture in a file, whose size its first bytes tell. One that they do not tell counts as 1,024 pixels a
    /// side.
    pub fn tokens(self, bytes: &[u8]) -> usize {
        let size = imagesize::blob_size(bytes).map(|size| (size.width, size.height));
        let (width, height) = size.unwrap_or(UNREADABLE);
        self.tokens_of_size(width, height)
    }

    /// Tokens of a picture of so many pixels.
    pub fn tokens_of_size(self, width: usize, height: usize) -> usize {
        let (width, height) = (width.max(1) as f64, height.max(1) as f64);
        match self {
            Self::Tiles { base, detail: Detail::Low, .. } => base,
            Self::Tiles { base, tile, detail: Detail::High } => {
                let inside = (2_048.0 / width.max(height)).min(1.0);
                let shorter = (768.0 / (width.min(height) * inside)).min(1.0);
                let tiles = |side: f64| ((side * inside * shorter).round() / 512.0).ceil().max(1.0) as usize;
                base + tile * tiles(width) * tiles(height)
            }
            Self::Area => {
                let scale = (ANTHROPIC_SIDE / width.max(height)).min(1.0);
                let tokens = (width * scale * height * scale / 750.0).ceil() as usize;
                tokens.clamp(1, ANTHROPIC_MOST)
            }
            Self::Crops if width <= 384.0 && height <= 384.0 => 258,
            Self::Crops => {
                let unit = (width.min(height) / 1.5).floor().clamp(256.0, 768.0);
                let tiles = |side: f64| (side / unit).ceil().max(1.0) as usize;
                258 * tiles(width) * tiles(height)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn openai_counts_tiles_after_scaling() {
        let cost = ImageCost::for_model("gpt-4o");
        assert_eq!(cost.tokens_of_size(1_024, 1_024), 765);
        assert_eq!(cost.tokens_of_size(2_048, 4_096), 1_105);
        assert_eq!(cost.tokens_of_size(100, 100), 255);
        let low = ImageCost::Tiles { base: 85, tile: 170, detail: Detail::Low };
        assert_eq!(low.tokens_of_size(4_096, 4_096), 85);
    }

    #[test]
    fn anthropic_counts_the_area_up_to_a_cap() {
        let cost = ImageCost::for_model("anthropic/claude-sonnet-4-5");
        assert_eq!(cost.tokens_of_size(1_000, 1_000), 1_334);
        assert_eq!(cost.tokens_of_size(200, 200), 54);
        assert_eq!(cost.tokens_of_size(8_000, 8_000), 1_600);
    }

    #[test]
    fn google_counts_tiles_above_a_small_size() {
        let cost = ImageCost::for_model("gemini-2.5-pro");
        assert_eq!(cost.tokens_of_size(384, 384), 258);
        assert_eq!(cost.tokens_of_size(960, 540), 258 * 6);
    }

    #[test]
    fn the_size_is_read_from_the_first_bytes() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\0\0\0\x04\0\x08\x02\0\0\0";
        assert_eq!(ImageCost::for_model("gpt-4o").tokens(png), 765);
        assert_eq!(ImageCost::for_model("gpt-4o").tokens(b"no picture"), 765);
        assert_eq!((picture_type(png), picture_type(b"no picture")), (Some("image/png"), None));
    }

    proptest! {
        #[test]
        fn a_picture_of_any_size_has_a_price(width in 0usize..100_000, height in 0usize..100_000) {
            for model in ["gpt-4o", "claude", "gemini"] {
                prop_assert!(ImageCost::for_model(model).tokens_of_size(width, height) > 0);
            }
        }
    }
}
