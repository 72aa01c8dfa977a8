/** Where the pages of the dashboard are, for whoever knows an identifier or what a page is called. */
import { type IdPrefix, isId, PREFIXES } from '../../../platform/ids.ts'
import type { MenuEntry } from '../shape/frame.ts'

/** What has a page of its own, by the prefix of its identifiers. */
const OF_ID: Readonly<Partial<Record<IdPrefix, string>>> = {
  tpl: 'pass-templates',
  pass: 'passes',
  whe: 'webhook-endpoints',
  evt: 'events',
  chd: 'cardholders',
  sal: 'sanctions-alerts',
  card: 'cards',
  cprg: 'card-programs',
  ctx: 'card-transactions',
  dsp: 'disputes',
  stl: 'settlements',
  po: 'payouts',
  pod: 'payout-destinations',
  trp: 'reports',
  len: 'ledger-entries',
  req: 'requests',
}

/** What stands in a list alone. */
const LISTED: Readonly<Partial<Record<IdPrefix, string>>> = {
  key: 'keys',
  scan: 'scans',
  aud: 'audit-log',
  mem: 'members',
}

/** @returns the path below the environment that shows what an identifier names; undefined where it is none, or has no page. */
export function findById(text: string): string | undefined {
  const prefix = PREFIXES.find((each) => isId(each, text))
  if (prefix === undefined) return undefined
  const page = OF_ID[prefix]
  return page === undefined ? LISTED[prefix] : `${page}/${text}`
}

/** @returns the pages whose title, with its group, has every word of the text in it. */
export function findByName(entries: readonly MenuEntry[], text: string): MenuEntry[] {
  const asked = text.toLowerCase().split(/\s+/).filter(Boolean)
  return entries.filter(({ group, title }) => {
    const said = `${group} ${title}`.toLowerCase()
    return asked.length > 0 && asked.every((word) => said.includes(word))
  })
}
