/** The changelog as data, for pages, their Markdown versions and the feed. */

import type { LoadedChange } from '../../change/load-changes.ts'
import { type Difference, formatLocation } from '../../diff/difference.ts'
import type { VersionPair } from '../../gate/steps.ts'
import { groupBy } from '../../ir/group-by.ts'
import type { Api } from '../../ir/model.ts'
import { tagsOf } from '../reference/page.ts'
import { tagTitle } from '../reference/page-view.ts'
import type { Sample, SampleContext } from './sample.ts'
import { samplesOf } from './samples.ts'

/** The parts of a caller's code that a change affects. */
export type Effect = 'requests' | 'answers' | 'deliveries' | 'behaviour' | 'additions'

export interface ChangelogEntry {
  readonly id: string
  readonly version: string
  readonly title: string
  /** Markdown. */
  readonly why: string
  readonly effects: readonly Effect[]
  /** Operation ids and event names that the change affects, as in the newer version. */
  readonly operations: readonly string[]
  readonly events: readonly string[]
  /** Tags of these operations and events. */
  readonly tags: readonly string[]
  /** Whether the change affects every delivery. */
  readonly everyEvent: boolean
  /** Values before and after the change, by component. */
  readonly examples: readonly { readonly schema: string; readonly before: unknown; readonly after: unknown }[]
  readonly samples: readonly Sample[]
}

export interface Release {
  readonly version: string
  /** Undefined for the first version. */
  readonly previous?: string
  readonly status?: string
  readonly changes: readonly ChangelogEntry[]
  /** Nonbreaking additions: operations, events, and other locations. */
  readonly operations: readonly {
    readonly id: string
    readonly summary: string
    readonly call: string
    readonly tag: string
  }[]
  readonly events: readonly { readonly name: string; readonly tag: string }[]
  /** Descriptions with the tags of the operations and events that have the location. */
  readonly others: readonly { readonly text: string; readonly tags: readonly string[] }[]
}

export interface Changelog {
  readonly title: string
  /** Tags of the newest version, in document order. */
  readonly tags: readonly { readonly name: string; readonly title: string }[]
  /** Oldest first. */
  readonly releases: readonly Release[]
  /** By version, the operations and events that it has, to determine which changes concern its users. */
  readonly known: ReadonlyMap<string, ReadonlySet<string>>
}

/**
 * @param apis all versions, oldest first.
 * @param steps the version pairs.
 */
export function readChangelog(
  apis: readonly Api[],
  steps: readonly VersionPair[],
  context: SampleContext,
): Changelog {
  const newest = apis.at(-1)
  const namesOf = (api: Api) =>
    new Set([...api.operations.map(({ id }) => id), ...api.events.map(({ name }) => name)])
  return {
    title: newest?.title ?? '',
    tags: newest ? tagsOf(newest).map((name) => ({ name, title: tagTitle(newest, name) })) : [],
    releases: apis.map((api, index) => releaseOf(api, steps[index - 1], context)),
    known: new Map(apis.map((api) => [api.version, namesOf(api)])),
  }
}

function releaseOf(api: Api, step: VersionPair | undefined, context: SampleContext): Release {
  const free = step?.claimed.filter(({ by }) => by.length === 0).map(({ difference }) => difference) ?? []
  const come = new Set(free.filter(({ code }) => code === 'operation-added').flatMap(({ uses }) => uses))
  const tagOf = tagFinder(api)
  const others = free.filter(({ code }) => code !== 'operation-added' && code !== 'event-added')
  const status = api.info['x-status']
  return {
    version: api.version,
    ...(step && { previous: step.old.version }),
    ...(typeof status === 'string' && { status }),
    changes: (step?.changes ?? [])
      .map((change) => entryOf(change, step!, context))
      .sort((a, b) => orderOf(a) - orderOf(b)),
    operations: api.operations
      .filter(({ id }) => come.has(id))
      .map(({ id, summary, method, path, tag }) => ({
        id,
        summary: summary ?? id,
        call: `${method} ${path}`,
        tag,
      })),
    events: free.flatMap(({ code, at }) =>
      code === 'event-added' && at.kind === 'event'
        ? [{ name: at.event, tag: tagOf.get(at.event) ?? '' }]
        : [],
    ),
    others: [...groupBy(others, describeDifference)].map(([text, same]) => ({
      text,
      tags: tagsIn(
        same.flatMap(({ uses }) => uses),
        tagOf,
      ),
    })),
  }
}

/** Returns the tag of each operation and event of a version. */
const tagFinder = ({ operations, events }: Api): ReadonlyMap<string, string> =>
  new Map([
    ...operations.map(({ id, tag }) => [id, tag] as const),
    ...events.map(({ name, tag }) => [name, tag] as const),
  ])

const tagsIn = (names: Iterable<string>, tagOf: ReadonlyMap<string, string>): string[] => [
  ...new Set([...names].flatMap((name) => tagOf.get(name) ?? [])),
]

function describeDifference({ at, message, stability }: Difference): string {
  const where = `\`${formatLocation(at)}\``
  if (stability === 'alpha') return `alpha: ${where} changed: ${message}`
  return stability === undefined ? `${where}: ${message}` : `${stability}: ${where}: ${message}`
}

function entryOf(change: LoadedChange, step: VersionPair, context: SampleContext): ChangelogEntry {
  const names = usesOf(change, step)
  const events = step.next.events.map(({ name }) => name).filter((name) => names.has(name))
  const { id, version, why, examples = [] } = change
  return {
    id,
    version,
    title: isBeta(change, step) ? `${titleOf(id)} (beta)` : titleOf(id),
    why: /[.!?]$/.test(why) ? why : `${why}.`,
    effects: effectsOf(change, step),
    operations: step.next.operations.map((each) => each.id).filter((each) => names.has(each)),
    events,
    tags: tagsIn(names, tagFinder(step.next)),
    everyEvent: events.length > 0 && events.length >= step.old.events.length,
    examples: examples
      .filter((each) => JSON.stringify(each.old) !== JSON.stringify(each.new))
      .map((each) => ({ schema: each.schema, before: each.old, after: each.new })),
    samples: samplesOf(change, step, context),
  }
}

const titleOf = (id: string): string => {
  const words = id.replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const claimedBy = (change: LoadedChange, { claimed }: VersionPair) =>
  claimed.filter(({ by }) => by.includes(change)).map(({ difference }) => difference)

/** Returns whether a change only concerns parts that are beta. */
function isBeta(change: LoadedChange, step: VersionPair): boolean {
  const differences = claimedBy(change, step)
  return differences.length > 0 && differences.every(({ stability }) => stability === 'beta')
}

/** A change of behavior is not visible in documents, so its lenses name the operations. */
function usesOf(change: LoadedChange, step: VersionPair): ReadonlySet<string> {
  const named = change.lenses.flatMap((lens) =>
    lens.kind === 'behaviour'
      ? lens.affects.map((each) => each.replace(/^event /, ''))
      : 'operations' in lens
        ? lens.operations
        : [],
  )
  return new Set([...claimedBy(change, step).flatMap(({ uses }) => uses), ...named])
}

function effectsOf(change: LoadedChange, step: VersionPair): readonly Effect[] {
  const events = new Set(step.next.events.map(({ name }) => name))
  const effects = new Set<Effect>()
  for (const { breaks, uses } of claimedBy(change, step)) {
    if (breaks.includes('request')) effects.add('requests')
    if (!breaks.includes('response')) continue
    if (uses.some((name) => !events.has(name))) effects.add('answers')
    if (uses.some((name) => events.has(name))) effects.add('deliveries')
  }
  if (change.lenses.some((lens) => lens.kind === 'behaviour')) effects.add('behaviour')
  if (effects.size > 0) return [...effects]
  return change.lenses.some((lens) => lens.kind === 'ignored-parameter') ? ['behaviour'] : ['additions']
}

/** The upgrade from one version to a later one. */
export interface Upgrade {
  readonly from: string
  readonly to: string
  readonly parts: readonly {
    readonly release: Release
    /** In the recommended order: changes to requests, then responses, deliveries and additions. */
    readonly changes: readonly ChangelogEntry[]
    /** Changes to operations and events that the starting version does not have. */
    readonly unconcerned: readonly ChangelogEntry[]
  }[]
}

/** Returns an upgrade for each pair of versions, including versions that are not adjacent. */
export function upgradesOf({ releases, known }: Changelog): readonly Upgrade[] {
  return releases.flatMap((from, start) =>
    releases.slice(start + 1).map((to, distance) => {
      const names = known.get(from.version)
      const concerns = ({ operations, events }: ChangelogEntry) =>
        [...operations, ...events].some((name) => names?.has(name)) || operations.length + events.length === 0
      return {
        from: from.version,
        to: to.version,
        parts: releases.slice(start + 1, start + distance + 2).map((release) => ({
          release,
          changes: release.changes.filter(concerns).sort((a, b) => orderOf(a) - orderOf(b)),
          unconcerned: release.changes.filter((each) => !concerns(each)),
        })),
      }
    }),
  )
}

const ORDER: readonly Effect[] = ['requests', 'behaviour', 'answers', 'deliveries', 'additions']
const orderOf = ({ effects }: ChangelogEntry): number =>
  Math.min(...effects.map((each) => ORDER.indexOf(each)))
