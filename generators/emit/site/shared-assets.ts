/** Style sheets and scripts that documentation pages share. */
import { createHash } from 'node:crypto'
import { readAsset } from '../../assets/assets.ts'
import { readSearchLibrary } from './search.ts'

/** Base path of the documentation on the server. */
export const HOME = '/docs'

/** Style sheets in order, from the page to its details; later rules win. */
const STYLES = [
  'page',
  'frame',
  'text',
  'lists',
  'operations',
  'code',
  'screens',
  'changes',
  'print',
  'search',
  'try',
] as const

/** Returns the texts of the assets that every page uses, by file name. */
export function sharedAssets() {
  return {
    'site.css': STYLES.map((name) => readAsset(`emit/site/assets/style/${name}.css`)).join(''),
    'favicon.svg': readAsset('emit/site/assets/favicon.svg'),
    'site.js': readAsset('emit/site/assets/site.js'),
    'minisearch.js': readSearchLibrary(),
  }
}

/** Returns an address that changes with the text, so that browsers can cache it forever. */
export function assetHref(name: string, text: string): string {
  return `${HOME}/assets/${name}?v=${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
}
