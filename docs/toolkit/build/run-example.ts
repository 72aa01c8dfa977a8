/** Runs the example of a lens: makes both documents, and translates the values. */

import { formatLocation } from '../../../generators/diff/difference.ts'
import { claimDifferences } from '../../../generators/gate/steps.ts'
import type { Api } from '../../../generators/ir/model.ts'
import { createTransition } from '../../../generators/translate/transition.ts'
import { evaluateLenses, readDocument } from '../playground/compare.ts'
import { translatedPlaces } from '../playground/translations.ts'
import type { LensExample } from './lens-examples.ts'

export const EXAMPLE_VERSIONS = ['2030-01-01', '2030-06-01'] as const

/** Where the first component of an example is used. */
export type ExampleUse = 'both' | 'request' | 'response' | 'event'

const content = (component: string, depth: number): string =>
  ['content:', '  application/json:', `    schema: { $ref: "#/components/schemas/${component}" }`]
    .map((line) => ` ${'  '.repeat(depth)}${line}\n`)
    .join('')

/** One operation that uses a component: `saveBook` at `PUT /books/{id}`. */
const savingPath = (component: string, use: ExampleUse): string =>
  [
    ` /${component.toLowerCase()}s/{id}:\n   put:\n     operationId: save${component}\n     parameters:\n`,
    '       - { name: id, in: path, required: true, schema: { type: string } }\n',
    use === 'response' ? '' : `     requestBody:\n       required: true\n${content(component, 3)}`,
    `     responses:\n       "${use === 'request' ? 204 : 200}":\n         description: OK\n`,
    use === 'request' ? '' : content(component, 4),
  ].join('')

const sendingEvent = (component: string): string =>
  ` ${component.toLowerCase()}.changed:\n   post:\n     requestBody:\n${content(component, 3)}     responses:\n       "204": { description: OK }\n`

/** The parts of both documents that differ, as `diff` prints them. */
export type ExampleFragments = Pick<LensExample, 'schemas' | 'paths' | 'webhooks'> & {
  readonly use?: ExampleUse
}

/** Returns the old and the new document of an example. */
export function documentsOf({
  schemas,
  use = 'both',
  ...given
}: ExampleFragments): readonly [string, string] {
  const component = /^[ +]?\s?(\w+):/m.exec(schemas ?? '')?.[1] ?? ''
  const isSent = use === 'event'
  const paths =
    given.paths ??
    (isSent || given.webhooks !== undefined || schemas === undefined ? '' : savingPath(component, use))
  const webhooks = given.webhooks ?? (isSent ? sendingEvent(component) : undefined)
  const side = (mark: '-' | '+', text: string, depth: number) =>
    text
      .split('\n')
      .filter((line) => line.startsWith(' ') || line.startsWith(mark))
      .map((line) => `${'  '.repeat(depth)}${line.slice(1)}\n`)
      .join('')
  const print = (mark: '-' | '+', version: string) =>
    [
      `openapi: 3.1.0\ninfo: { title: Books, version: "${version}" }\n`,
      paths === '' ? 'paths: {}\n' : `paths:\n${side(mark, paths, 1)}`,
      webhooks === undefined ? '' : `webhooks:\n${side(mark, webhooks, 1)}`,
      schemas === undefined ? '' : `components:\n  schemas:\n${side(mark, schemas, 2)}`,
    ].join('')
  return [print('-', EXAMPLE_VERSIONS[0]), print('+', EXAMPLE_VERSIONS[1])]
}

export interface ExampleValue {
  readonly given: unknown
  readonly translated: unknown
}

export interface ExampleRun {
  /** Differences that the lens accounts for: `property-removed Book.title`. */
  readonly accounted: readonly string[]
  /** Breaking differences that remain: a mistake of the example. */
  readonly open: readonly string[]
  readonly up?: ExampleValue
  readonly down?: ExampleValue
  /** Old id of an operation, and the id of its handler, if they differ. */
  readonly served: readonly (readonly [string, string])[]
  /** Status of the new version, and the status that old callers get. */
  readonly statuses: readonly (readonly [string, string])[]
}

/** @throws Error if a document cannot be read, or the lens translates nothing at a place that the example names */
export function runExample(example: LensExample): ExampleRun {
  const [old, next] = documentsOf(example).map((text, at) => readApi(EXAMPLE_VERSIONS[at]!, text)) as [
    Api,
    Api,
  ]
  const lenses = evaluateLenses(example.lens)
  const change = { id: 'example', why: '', version: next.version, file: 'example.ts', lenses }
  const claimed = claimDifferences(old, next, [change]).map(({ difference, by }) => ({
    text: `${difference.code} ${formatLocation(difference.at)}`,
    isClaimed: by.length > 0,
    isBreaking: difference.class === 'breaking',
  }))
  const transition = createTransition(old, next, [change])
  const places = translatedPlaces(transition)
  const valueAt = (direction: 'up' | 'down'): ExampleValue | undefined => {
    const [id, given] = example[direction] ?? []
    if (id === undefined) return undefined
    const place = places.find((each) => each.id === id && each.direction === direction)
    if (!place) throw new Error(`the lens translates nothing ${direction} at ${id}: ${example.lens}`)
    return { given, translated: place.translate(structuredClone(given)) }
  }
  const [up, down] = [valueAt('up'), valueAt('down')]
  return {
    accounted: [...new Set(claimed.filter(({ isClaimed }) => isClaimed).map(({ text }) => text))],
    open: claimed.filter(({ isClaimed, isBreaking }) => isBreaking && !isClaimed).map(({ text }) => text),
    ...(up && { up }),
    ...(down && { down }),
    served: [...transition.counterparts].flatMap(([id, { id: by }]) =>
      id === by ? [] : [[id, by] as const],
    ),
    statuses: [...transition.statusNames.values()].flatMap((names) => [...names]),
  }
}

function readApi(version: string, text: string): Api {
  const { api, findings } = readDocument({ file: `${version}.yaml`, text })
  if (!api) throw new Error(findings.map(({ message }) => message).join('\n'))
  return api
}
