/** Adjusts brand colors so that text is readable (WCAG 2.2, 1.4.3). All colors are `#RRGGBB`. */

import type { PassBrand } from '../pass-state.ts'

type Rgb = readonly [number, number, number]

const read = (hex: string): Rgb =>
  [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb
const write = (rgb: Rgb): string =>
  `#${rgb.map((value) => Math.round(value).toString(16).padStart(2, '0')).join('')}`

const WHITE: Rgb = [255, 255, 255]
const BLACK: Rgb = [0, 0, 0]

/** Returns the relative luminance (WCAG 2.2). */
function luminance(rgb: Rgb): number {
  const [red, green, blue] = rgb.map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as unknown as Rgb
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function ratio(one: Rgb, other: Rgb): number {
  const [dark, light] = [luminance(one), luminance(other)].toSorted((a, b) => a - b) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

/** Returns the contrast ratio, from 1 to 21 (WCAG 2.2). */
export function contrast(one: string, other: string): number {
  return ratio(read(one), read(other))
}

/** WCAG requires 4.5; the margin absorbs the rounding of colors. */
const MIN_CONTRAST = 4.6
const STEPS = 20

/**
 * Returns the color if it is readable on the background. Otherwise moves it toward white or black only until it is
 * readable, to keep the brand's tint.
 */
export function readableOn(background: string, color: string): string {
  const behind = read(background)
  const from = read(color)
  if (ratio(from, behind) >= MIN_CONTRAST) return color
  const end = ratio(WHITE, behind) >= ratio(BLACK, behind) ? WHITE : BLACK
  for (let step = 1; step < STEPS; step += 1) {
    const mixed = from.map((value, at) => value + ((end[at]! - value) * step) / STEPS) as unknown as Rgb
    if (ratio(mixed, behind) >= MIN_CONTRAST) return write(mixed)
  }
  return write(end)
}

/** Returns the CSS declarations of the brand colors, adjusted to be readable. */
export function brandColors({
  background_color: background,
  foreground_color: foreground,
  label_color: label = foreground,
}: Pick<PassBrand, 'background_color' | 'foreground_color' | 'label_color'>): string {
  return `--brand:${background};--value:${readableOn(background, foreground)};--label:${readableOn(background, label)}`
}
