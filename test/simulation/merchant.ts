/** What a simulated merchant has, and what it knows of it. */
import type { Environment } from '../../runtime/platform/environment.ts'
import type { Client } from './client.ts'
import type { EndpointKind } from './endpoints.ts'
import type { Follower } from './follower.ts'
import type { HooksRead, MoneyRead } from './reads.ts'
import type { Device } from './wallets/devices.ts'

/** What a merchant expects of a card transaction. */
export interface KnownTransaction {
  status: string
  requested: number
  authorized: number
  held: number
  cleared: number
  refunded: number
  reversed: number
}

/** An object as the service shows it. */
interface Shown {
  readonly id: string
  readonly object: string
}

export interface Merchant {
  readonly name: string
  readonly tenantId: string
  readonly live: Client
  readonly sandbox: Client
  /** The same keys with requests in an older version. */
  readonly older: Readonly<Record<Environment, Client>>
  /** Cents that were made payable in each environment. */
  readonly payable: number
  /** Cents of test money in the sandbox. */
  funded: number
  /** Payouts that were answered 201, with their amounts. */
  readonly payouts: Map<string, number>
  /** USDC payouts in the sandbox that were answered 201, with their amounts. */
  readonly transfers: Map<string, number>
  readonly passes: string[]
  /** URLs of the files of passes. */
  readonly files: Map<string, string>
  readonly devices: readonly Device[]
  readonly transactions: string[]
  readonly known: {
    template: string
    bank: string
    usdc: string
    card: string
    /** Destinations: a wallet that gets on the list of sanctions, and a bank account that is disabled. */
    doomed: string
    spare: string
    /** Wallets that were on the chain when they were added: on another chain now, and with an address that is wrong. */
    moved: string
    misspelt: string
  }
  /** Host names of the receivers, and identifiers of their endpoints, by `environment.kind`. */
  readonly hosts: Readonly<Record<EndpointKind, string>>
  readonly endpoints: Map<string, string>
  /** Waits in simulated time. */
  readonly wait: (ms: number) => Promise<void>
  /** Does one thing after the other, and nothing disturbs it: it can say what each answer must be. */
  readonly isExact: boolean
  /** Whether its events have the same version as its requests. */
  readonly isCurrent: boolean
  readonly cards: Map<string, KnownTransaction>
  /** Cents that settlements took in the sandbox, as a number below 0. */
  shortfall: number
  /** How far the clock of its settlements is ahead. */
  aheadSeconds: number
  /** Moves of the clock of its settlements, with the time that each was answered with. */
  readonly advances: { readonly began: number; readonly ended: number; readonly time: number }[]
  /** Settlements that it failed. */
  readonly failures: { readonly id: string; readonly at: number }[]
  /** Destinations that it created, as they were answered. */
  readonly destinations: Map<string, { readonly environment: Environment; readonly body: Shown }>
  /** Addresses of its destinations. */
  readonly addresses: Set<string>
  /** Default destinations from a time on; undefined for none. */
  readonly defaults: Readonly<Record<Environment, { readonly at: number; readonly id: string | undefined }[]>>
  /** Number of its named sandboxes. */
  sandboxes: number
  /** Threshold of its balance alert; undefined if it was never set. */
  threshold: number | null | undefined
  /** Streams of the events of its sandbox. It resumes the first again and again. */
  readonly streams: Follower[]
  /** Returns a stream of events that begins after an event, or at the end. */
  readonly openStream: (after?: string) => Follower
  /** Returns the client of a key of a named sandbox. */
  readonly open: (secret: string) => Client
  /** Payouts whose destination cannot be paid before they are sent. */
  readonly rejected: Set<string>
  /** Lets the service read a list of sanctions with the wallet of one destination. */
  readonly readNewerList: () => void
  /** Secrets of webhook endpoints by identifier, and the endpoints that were disabled at times. */
  readonly secrets: Map<string, string>
  readonly pauses: Set<string>
  /** Secrets before the last rotation, by endpoint, and when they were rotated. */
  readonly rotated: Map<string, { readonly secret: string; readonly at: number }>
  /** Events that were sent again by hand, and when. */
  readonly byHand: { readonly event: string; readonly at: number }[]
  /** Events that were skipped at an ordered endpoint, as `endpoint event`. */
  readonly skipped: Set<string>
  /** Whether the deliveries of an event of the sandbox were made late and twice on purpose. Undefined: perhaps. */
  readonly disturbed: Map<string, boolean | undefined>
  /** Answers to changes, with the type of the event that must tell the same. */
  readonly changes: { readonly environment: Environment; readonly type: string; readonly body: Shown }[]
  /** Requests with their times, keys and answers. */
  readonly keys: {
    readonly at: number
    readonly key: string
    readonly order: object
    readonly status: number
    readonly body: unknown
  }[]
  oldKey: string
  shownPayouts: readonly (Shown & { readonly status: string; readonly amount: number })[]
  /** What the service showed of webhooks at the end of the day. */
  hooksRead: HooksRead | undefined
  /** What lists showed at the end of the day. */
  lists: Readonly<Record<'events' | 'paid' | 'payable' | 'funds', readonly unknown[]>>
  /** What it read of its money at the end of the day. */
  money: Readonly<Record<Environment, MoneyRead>> | undefined
  /** Points of each pass, as the service said last. */
  shown: readonly { readonly id: string; readonly points: unknown }[]
  /** What the service said last. */
  balances: Readonly<
    Record<Environment, { readonly payable: number; readonly held: number; readonly available: number }>
  >
}
