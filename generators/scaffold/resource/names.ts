/** Derives the names of a new resource, and adapts texts about its neighbor. */
import { pascalCase } from '../../ir/naming.ts'
import type { ScalarEdit } from '../yaml-blocks.ts'
import type { Neighbour } from './neighbour.ts'
import type { ResourceRequest } from './request.ts'

export interface ResourceNames {
  readonly pascal: string
  readonly pascals: string
  readonly noun: string
  readonly plural: string
  readonly path: string
  readonly idName: string
  /** Component names of the neighbor → component names of the new resource. */
  readonly references: ReadonlyMap<string, string>
  /** Adapts a text about the neighbor to the new resource. */
  say(text: string): string
}

export function namesOf(
  neighbour: Neighbour,
  { name, singular, prefix, like }: ResourceRequest,
): ResourceNames {
  const pascal = pascalCase(singular)
  const noun = singular.replaceAll('_', ' ')
  const plural = name.replaceAll('_', ' ')
  const idName = `${singular}_id`
  const segment = neighbour.collection.split('/').at(-1)!
  const path =
    neighbour.collection.slice(0, -segment.length) +
    (segment.includes('-') ? name.replaceAll('_', '-') : name)
  const replacements: readonly (readonly [RegExp, string])[] = [
    [word(like), name],
    [word(neighbour.object), singular],
    [word(neighbour.idName), idName],
    [new RegExp(`\\b${neighbour.prefix}_`, 'g'), `${prefix}_`],
    [word(like.replaceAll('_', ' ')), plural],
    [word(neighbour.plural), plural],
    [
      new RegExp(`\\ban? (${neighbour.object.replaceAll('_', ' ')}|${neighbour.noun})\\b`, 'g'),
      withArticle(noun),
    ],
    [
      new RegExp(`\\bAn? (${neighbour.object.replaceAll('_', ' ')}|${neighbour.noun})\\b`, 'g'),
      upper(withArticle(noun)),
    ],
    [word(neighbour.object.replaceAll('_', ' ')), noun],
    [word(neighbour.noun), noun],
  ]
  return {
    pascal,
    pascals: pascalCase(name),
    noun,
    plural,
    path,
    idName,
    references: new Map([
      [neighbour.schema, pascal],
      [neighbour.idSchema, `${pascal}Id`],
      ...(neighbour.create === undefined ? [] : [[neighbour.create, `${pascal}Create`] as const]),
      ...(neighbour.update === undefined ? [] : [[neighbour.update, `${pascal}Update`] as const]),
      ...(neighbour.list === undefined ? [] : [[neighbour.list, `${pascal}List`] as const]),
      [neighbour.idParameter, `${pascal}Id`],
    ]),
    say: (text) => replacements.reduce((said, [from, to]) => said.replaceAll(from, to), text),
  }
}

const word = (text: string) => new RegExp(`(?<![\\w])${text}(?![\\w])`, 'g')

export const upper = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Returns a noun with its article: `a coupon`, `an offer`. */
export const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`

/** Returns the edit for every copied scalar: renames references and adapts texts. */
export function editOf({ references, say }: ResourceNames, more: ScalarEdit = () => undefined): ScalarEdit {
  return (value, path, isKey) => {
    const own = more(value, path, isKey)
    if (own !== undefined) return own
    if (typeof value !== 'string') return undefined
    if (path.at(-1) !== '$ref' || isKey) return say(value)
    const [, where, name = ''] = value.match(/^(.*\/)([^/]+)$/) ?? []
    return references.has(name) ? `${where}${references.get(name)}` : undefined
  }
}
