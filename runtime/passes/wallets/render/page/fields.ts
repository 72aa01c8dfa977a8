import { type Html, html } from '../../../../platform/html.ts'
import type { PassField } from '../pass-state.ts'

/** Characters up to which a value keeps a size of type; longer ones get the next, smaller one. */
const SIZES = [9, 16, 32, 60]

/** 0 is the largest. Characters as readers count them, so that emoji and marks do not shrink a word. */
export function sizeOf(value: string): number {
  const length = value.length > 200 ? value.length : [...GRAPHEMES.segment(value)].length
  const size = SIZES.findIndex((most) => length <= most)
  return size === -1 ? SIZES.length : size
}

const GRAPHEMES = new Intl.Segmenter()

/** @param name classes. @returns nothing where there are no fields: an empty list is none for who has it read out. */
export function showFields(name: string, fields: readonly PassField[]): Html | undefined {
  if (fields.length === 0) return undefined
  return html`<dl class="${name}">${fields.map(
    ({ label, value }) =>
      html`<div class="field size-${String(sizeOf(value))}"><dt dir="auto">${label}</dt><dd dir="auto">${value}</dd></div>`,
  )}</dl>`
}
