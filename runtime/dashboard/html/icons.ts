/** Icons of the console, from the sprite `assets/icons.svg`. */
import { readFileSync } from 'node:fs'
import { type Html, html } from '../../platform/html.ts'
import { assetPath } from './assets.ts'

const SPRITE = readFileSync(new URL('assets/icons.svg', import.meta.url), 'utf8')
/** Names of all icons. */
export const ICON_NAMES: ReadonlySet<string> = new Set(
  Array.from(SPRITE.matchAll(/<symbol id="([\w-]+)"/g), ([, name = '']) => name),
)

/**
 * Writes an icon that only repeats the text beside it. Screen readers skip it.
 *
 * @param name ID of a symbol in the sprite.
 * @throws if the sprite has no such symbol.
 */
export function icon(name: string): Html {
  if (!ICON_NAMES.has(name)) throw new Error(`icon not found: ${name}`)
  return html`<svg class="icon" aria-hidden="true"><use href="${assetPath('icons.svg')}#${name}"/></svg>`
}
