import { type Html, html } from '../../../../platform/html.ts'
import type { PassField } from '../pass-state.ts'

/** Maximum length of a value for each type size, from the largest. */
const SIZES = [9, 16, 32, 60]

/**
 * Returns the type size of a value, 0 for the largest. Counts graphemes, so that emoji and combining marks do not
 * shrink text.
 */
export function sizeOf(value: string): number {
  const length = value.length > 200 ? value.length : [...GRAPHEMES.segment(value)].length
  const size = SIZES.findIndex((most) => length <= most)
  return size === -1 ? SIZES.length : size
}

const GRAPHEMES = new Intl.Segmenter()

/**
 * Renders fields as a description list. Returns undefined if there are no fields, because screen readers announce empty
 * lists.
 *
 * @param name CSS classes.
 */
export function showFields(name: string, fields: readonly PassField[]): Html | undefined {
  if (fields.length === 0) return undefined
  return html`<dl class="${name}">${fields.map(
    ({ label, value }) =>
      html`<div class="field size-${String(sizeOf(value))}"><dt dir="auto">${label}</dt><dd dir="auto">${value}</dd></div>`,
  )}</dl>`
}
