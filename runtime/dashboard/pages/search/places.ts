/** Where the pages of the dashboard are, for whoever knows an identifier or what a page is called. */
import type { Environment } from '../../../platform/environment.ts'
import { type IdPrefix, isId, PREFIXES } from '../../../platform/ids.ts'
import type { MenuEntry } from '../../engine/frame.ts'

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
  prm: 'promotions',
}

/** What stands in a list alone. */
const LISTED: Readonly<Partial<Record<IdPrefix, string>>> = {
  key: 'keys',
  scan: 'scans',
  aud: 'audit-log',
  mem: 'members',
}

/** Whose pages are in one environment only. */
const ONLY_IN: Readonly<Partial<Record<IdPrefix, Environment>>> = { prm: 'live' }

export interface FoundPlace {
  /** Below the environment. */
  readonly path: string
  /** Absent: where one is. */
  readonly environment?: Environment
}

/** @returns the page that shows what an identifier names; undefined where it is none, or has no page of its own. */
export function findById(text: string): FoundPlace | undefined {
  const prefix = PREFIXES.find((each) => isId(each, text))
  if (prefix === undefined) return undefined
  const page = OF_ID[prefix]
  const path = page === undefined ? LISTED[prefix] : `${page}/${text}`
  const environment = ONLY_IN[prefix]
  return path === undefined ? undefined : { path, ...(environment && { environment }) }
}

/** @returns the pages whose title, with its group, has every word of the text in it. */
export function findByName(entries: readonly MenuEntry[], text: string): MenuEntry[] {
  const asked = text.toLowerCase().split(/\s+/).filter(Boolean)
  return entries.filter(({ group, title }) => {
    const said = `${group} ${title}`.toLowerCase()
    return asked.length > 0 && asked.every((word) => said.includes(word))
  })
}
