/**
 * The stability of each part of a document, from `x-stability`. A part without it has the stability of what holds
 * it; a component has the highest stability of the parts that refer to it.
 */
import type { Report } from '../diagnostics/diagnostic.ts'
import type { Api, Extensions } from './model.ts'
import { placeNear } from './places.ts'

/** Lowest first. */
export const STABILITIES = ['alpha', 'beta', 'stable'] as const
export type Stability = (typeof STABILITIES)[number]

const MEMBER = 'x-stability'

/** Members that hold values of the API, not parts of the document. */
const VALUES = new Set(['example', 'examples', 'default', 'enum', 'const'])

type JsonObject = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isStability = (value: unknown): value is Stability => STABILITIES.some((each) => each === value)

const isLower = (a: Stability, b: Stability): boolean => STABILITIES.indexOf(a) < STABILITIES.indexOf(b)

/** Returns the lower one. */
export const lowerOf = (a: Stability, b: Stability): Stability => (isLower(a, b) ? a : b)

/** Returns the stability that a node declares itself: stable, unless its `x-stability` says otherwise. */
export function declaredStability({ extensions }: { readonly extensions: Extensions }): Stability {
  const declared = extensions[MEMBER]
  return isStability(declared) ? declared : 'stable'
}

/** Returns the stability that an operation or event declares, itself or with its tag. */
export function taggedStability(
  api: Api,
  node: { readonly extensions: Extensions; readonly tag: string },
): Stability {
  const tag = api.tags.find(({ name }) => name === node.tag)
  return lowerOf(declaredStability(node), tag ? declaredStability(tag) : 'stable')
}

const known = new WeakMap<JsonObject, (pointer: string) => Stability>()

/**
 * Returns the stability of a part of a document.
 *
 * @param pointer the JSON pointer of the part.
 */
export function stabilityAt({ document }: Pick<Api, 'document'>, pointer: string): Stability {
  const reader = known.get(document) ?? readStability(document)
  known.set(document, reader)
  return reader(pointer)
}

function readStability(document: JsonObject): (pointer: string) => Stability {
  if (!isMarked(document)) return () => 'stable'
  const tags = new Map(
    (Array.isArray(document.tags) ? document.tags : [])
      .filter(isObject)
      .map((tag) => [tag.name, ownOf(tag)] as const),
  )
  const withTags = (value: unknown): Stability =>
    isObject(value) && 'responses' in value && Array.isArray(value.tags)
      ? value.tags.reduce((least: Stability, tag) => lowerOf(least, tags.get(tag) ?? 'stable'), ownOf(value))
      : ownOf(value)
  const components = reachComponents(document, withTags)
  return (pointer) => {
    const tokens = tokensOf(pointer)
    const base = components.get(tokens.slice(0, 3).join('\n'))
    let stability: Stability = base ?? 'stable'
    let at: unknown = document
    for (const token of tokens) {
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, token)) break
      at = (at as JsonObject)[token]
      stability = lowerOf(stability, withTags(at))
    }
    return stability
  }
}

const ownOf = (value: unknown): Stability =>
  isObject(value) && isStability(value[MEMBER]) ? value[MEMBER] : 'stable'

const isMarked = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (ownOf(value) !== 'stable' || Object.values(value).some(isMarked))

/** Returns the highest stability by which each component is reached, by the tokens of its pointer. */
function reachComponents(
  document: JsonObject,
  stabilityOf: (value: unknown) => Stability,
): ReadonlyMap<string, Stability> {
  const reached = new Map<string, Stability>()
  const waiting: { readonly value: unknown; readonly stability: Stability }[] = [
    { value: document.paths, stability: 'stable' },
    { value: document.webhooks, stability: 'stable' },
  ]
  const visit = (value: unknown, from: Stability): void => {
    if (typeof value !== 'object' || value === null) return
    const stability = lowerOf(from, stabilityOf(value))
    for (const [name, member] of Object.entries(value)) {
      if (name === '$ref' && typeof member === 'string') reach(member, stability)
      else if (!VALUES.has(name)) visit(member, stability)
    }
  }
  const reach = (ref: string, stability: Stability): void => {
    const tokens = ref.startsWith('#/') ? tokensOf(ref.slice(1)) : []
    const key = tokens.slice(0, 3).join('\n')
    const before = reached.get(key)
    if (tokens[0] !== 'components' || (before && !isLower(before, stability))) return
    reached.set(key, stability)
    const target = tokens.reduce<unknown>(
      (at, token) => (isObject(at) && Object.hasOwn(at, token) ? at[token] : undefined),
      document,
    )
    waiting.push({ value: target, stability })
  }
  for (let next = waiting.pop(); next; next = waiting.pop()) visit(next.value, next.stability)
  return reached
}

const tokensOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))

/** Reports each `x-stability` that is not one of the known values. */
export function checkStability(api: Api, report: Report): void {
  const visit = (value: unknown, pointer: string): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
      // A property may have the name of the member; its schema is an object.
      if (name === MEMBER && !isStability(member) && !isObject(member))
        report.add({
          code: 'stability-invalid',
          severity: 'error',
          message: `\`${MEMBER}\` is ${JSON.stringify(member)}`,
          place: placeNear(api, at),
          hint: `use ${STABILITIES.join(', ')}, or remove it`,
        })
      else if (!VALUES.has(name)) visit(member, at)
    }
  }
  visit(api.document, '')
}
