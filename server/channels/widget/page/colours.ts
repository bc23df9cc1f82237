const DARK_TEXT = '#111827'
const LIGHT_TEXT = '#ffffff'

type Rgb = [number, number, number]

/** Returns black or white, whichever is more readable on the colour. For a transparent colour, `behind` counts. */
export function textOn(color: string, behind = LIGHT_TEXT): string {
  const shown = parseColor(color) ? color : behind
  return contrast(shown, LIGHT_TEXT) >= contrast(shown, DARK_TEXT) ? LIGHT_TEXT : DARK_TEXT
}

/** Returns the contrast according to WCAG, 1 to 21. Invalid colours count as white. */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminance(color: string): number {
  const [red, green, blue] = (parseColor(color) ?? [255, 255, 255]).map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as Rgb
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Parses #rgb, #rgba, #rrggbb and #rrggbbaa; returns null for invalid or almost transparent colours. */
function parseColor(color: string): Rgb | null {
  const digits = /^#([0-9a-f]{3,8})$/i.exec(color)?.[1]
  if (!digits) return null
  const width = digits.length < 6 ? 1 : 2
  const parts = [0, 1, 2, 3].map((index) => {
    const part = digits.slice(index * width, (index + 1) * width)
    return part === '' ? 255 : Number.parseInt(part.length === 1 ? part + part : part, 16)
  })
  const [red = 0, green = 0, blue = 0, alpha = 255] = parts
  return alpha < 26 ? null : [red, green, blue]
}
