/** Assigns names to the types of a document. */
import type { Api, ApiOperation } from '../../ir/model.ts'
import { identifier, pascalCase } from '../../ir/naming.ts'
import { isObject } from '../../ir/source.ts'
import { stringLiteral } from '../../print/literal.ts'

/** Names that are reserved or that generated types use for other purposes. */
const TAKEN =
  'any unknown never number bigint boolean string symbol void object undefined null keyof infer readonly unique asserts is abstract declare module namespace type Record Omit Required Pick Extract Exclude NonNullable PropertyKey Open WithRequired OneOf components operations paths webhooks'

export interface TypeNames {
  /** Returns the name as an identifier, with a number if it is taken. */
  claim(wanted: string): string
}

export function createTypeNames(): TypeNames {
  const taken = new Set(TAKEN.split(' '))
  return {
    claim(wanted) {
      const base = identifier(wanted)
      let name = base
      for (let n = 2; taken.has(name); n++) name = `${base}_${n}`
      taken.add(name)
      return name
    },
  }
}

/** Returns a name for each text. Texts that are identifiers keep their names. */
export function claimAll(texts: Iterable<string>, names: TypeNames): ReadonlyMap<string, string> {
  const all = [...texts]
  const [exact, odd] = [true, false].map((is) => all.filter((each) => (identifier(each) === each) === is))
  const claimed = new Map([...exact!, ...odd!].map((text) => [text, names.claim(text)]))
  return new Map(all.map((text) => [text, claimed.get(text)!]))
}

/** Returns the type name of each component schema. */
export const schemaTypes = (components: Iterable<string>): ReadonlyMap<string, string> =>
  claimAll(components, createTypeNames())

/** @returns the type of an operation's query, as `flatten` names it; undefined if another type may have that name. */
export function queryType(api: Api, operation: ApiOperation): string | undefined {
  const base = pascalCase(operation.id)
  const name = `${base}Query`
  if (identifier(name) !== name || !operation.parameters.some((each) => each.in === 'query')) return undefined
  const { operations, components } = usedNames(api)
  return operations.get(base) === 1 && !components.has(name) ? name : undefined
}

interface UsedNames {
  /** Number of operations by the name that their types begin with. */
  readonly operations: ReadonlyMap<string, number>
  /** Names of components, as they are and as names of types. */
  readonly components: ReadonlySet<string>
}

/** Cached, because every query asks for them, and documents have thousands of names. */
const used = new WeakMap<Api, UsedNames>()

function usedNames(api: Api): UsedNames {
  const known = used.get(api)
  if (known) return known
  const operations = new Map<string, number>()
  for (const { id } of api.operations)
    operations.set(pascalCase(id), (operations.get(pascalCase(id)) ?? 0) + 1)
  const components = new Set(componentNames(api).flatMap((each) => [each, pascalCase(each)]))
  const names = { operations, components }
  used.set(api, names)
  return names
}

/** Names of components of any kind: each may become the name of a type. */
function componentNames({ document }: Api): string[] {
  const { components } = document
  return isObject(components)
    ? Object.values(components).flatMap((each) => (isObject(each) ? Object.keys(each) : []))
    : []
}

/** @returns the file of a version's types as handlers see them. */
export const typesFile = ({ types }: Api): string => (types ? 'mapped-types.ts' : 'types.ts')

/** @returns the index of a response in the types of an operation: `[200]`, `["4XX"]`. */
export const responseKey = (status: string): string =>
  /^\d+$/.test(status) ? `[${status}]` : `[${stringLiteral(status)}]`
