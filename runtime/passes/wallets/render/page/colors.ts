/** Colours of brands as text needs them (WCAG 2.2, 1.4.3). All are `#RRGGBB`. */

import type { PassBrand } from '../pass-state.ts'

type Rgb = readonly [number, number, number]

const read = (hex: string): Rgb =>
  [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb
const write = (rgb: Rgb): string =>
  `#${rgb.map((value) => Math.round(value).toString(16).padStart(2, '0')).join('')}`

const WHITE: Rgb = [255, 255, 255]
const BLACK: Rgb = [0, 0, 0]

/** WCAG 2.2, "relative luminance". */
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

/** @returns from 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(one: string, other: string): number {
  return ratio(read(one), read(other))
}

/** What text needs, and a little more: rounded colours must not fall below it. */
const MIN_CONTRAST = 4.6
const STEPS = 20

/**
 * The colour itself where it can be read on the background; else the nearest on its way to white or black that can, so that
 * a brand's tint stays as far as it may.
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

/** Declarations for the style sheet of a pass: colours as the brand has them, but never so close that they cannot be read. */
export function brandColors({
  background_color: background,
  foreground_color: foreground,
  label_color: label = foreground,
}: Pick<PassBrand, 'background_color' | 'foreground_color' | 'label_color'>): string {
  return `--brand:${background};--value:${readableOn(background, foreground)};--label:${readableOn(background, label)}`
}
