//! Token costs of images, by the published rules of the model families.

use imagesize::ImageType;

/// The longer side in pixels to which Anthropic's servers scale an image.
const ANTHROPIC_MAX_SIDE: f64 = 1_568.0;

/// The maximum cost of an image for Anthropic's models, in tokens.
const ANTHROPIC_MAX_TOKENS: usize = 1_600;

/// The assumed size in pixels of an image whose size cannot be read.
const DEFAULT_SIZE: (usize, usize) = (1_024, 1_024);

/// The media type of an image file, from its first bytes; `None` for formats that models do not accept.
pub fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match imagesize::image_type(bytes).ok()? {
        ImageType::Png => Some("image/png"),
        ImageType::Jpeg => Some("image/jpeg"),
        ImageType::Gif => Some("image/gif"),
        ImageType::Webp => Some("image/webp"),
        _ => None,
    }
}

/// Width and height in pixels of an image file, from its first bytes; `None` if they cannot be read.
pub fn image_size(bytes: &[u8]) -> Option<(usize, usize)> {
    imagesize::blob_size(bytes).ok().map(|size| (size.width, size.height))
}

/// The rule by which a model family charges for images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageCost {
    /// OpenAI at high detail: a base price, plus a price per tile of 512 × 512 pixels after scaling to fit into 2,048 × 2,048 and to at
    /// most 768 on the shorter side.
    Tiles {
        /// Tokens of every image.
        base: usize,
        /// Tokens of a tile.
        tile: usize,
    },
    /// Anthropic: width × height ÷ 750 after scaling, at most 1,600 tokens.
    Area,
    /// Google: 258 tokens for an image of at most 384 pixels a side, else for each tile of about 768.
    Crops,
}

/// The largest image that a provider accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageLimit {
    /// Size of the file in bytes.
    pub bytes: usize,
    /// Longer side in pixels, if limited.
    pub side: Option<usize>,
}

impl ImageCost {
    /// The largest image that the provider accepts, by its documentation. Limits on the base64 form are converted to file
    /// sizes (three quarters).
    pub fn limit(self) -> ImageLimit {
        match self {
            Self::Area => ImageLimit { bytes: 5 * 1024 * 1024 / 4 * 3, side: Some(8_000) },
            Self::Crops => ImageLimit { bytes: 20 * 1024 * 1024 / 4 * 3, side: None },
            Self::Tiles { .. } => ImageLimit { bytes: 20 * 1024 * 1024, side: None },
        }
    }

    /// The rule for a model, by its name. Unknown models get OpenAI's.
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
            Self::Tiles { base, tile }
        }
    }

    /// The tokens of an image file. The size is read from its first bytes; if it cannot be read, 1,024 × 1,024 is assumed.
    pub fn tokens(self, bytes: &[u8]) -> usize {
        let (width, height) = image_size(bytes).unwrap_or(DEFAULT_SIZE);
        self.tokens_of_size(width, height)
    }

    /// The tokens of an image of `width` × `height` pixels.
    pub fn tokens_of_size(self, width: usize, height: usize) -> usize {
        let (width, height) = (width.max(1) as f64, height.max(1) as f64);
        match self {
            Self::Tiles { base, tile } => {
                let inside = (2_048.0 / width.max(height)).min(1.0);
                let shorter = (768.0 / (width.min(height) * inside)).min(1.0);
                let tiles = |side: f64| ((side * inside * shorter).round() / 512.0).ceil().max(1.0) as usize;
                base + tile * tiles(width) * tiles(height)
            }
            Self::Area => {
                let scale = (ANTHROPIC_MAX_SIDE / width.max(height)).min(1.0);
                let tokens = (width * scale * height * scale / 750.0).ceil() as usize;
                tokens.clamp(1, ANTHROPIC_MAX_TOKENS)
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
        assert_eq!(ImageCost::for_model("gpt-4o").tokens(b"no image"), 765);
        assert_eq!((image_type(png), image_type(b"no image")), (Some("image/png"), None));
    }

    proptest! {
        #[test]
        fn an_image_of_any_size_has_a_cost(width in 0usize..100_000, height in 0usize..100_000) {
            for model in ["gpt-4o", "claude", "gemini"] {
                prop_assert!(ImageCost::for_model(model).tokens_of_size(width, height) > 0);
            }
        }
    }
}
