/**
 * Compiles schemas that the printer does not support with ajv, into one file of plain functions. Every referenced
 * schema has its own flat `$id`, because ajv would compile the target of a pointer once for each reference. Equal
 * schemas of several versions share a function.
 */
import { createHash } from 'node:crypto'
import standalone from 'ajv/dist/standalone/index.js'
import { DiagnosticsError } from '../../diagnostics/diagnostic.ts'
import type { SourceLocation } from '../../diagnostics/place.ts'
import type { Api, JsonSchema } from '../../ir/model.ts'
import { compare } from '../../print/file.ts'
import { createAjv } from './ajv.ts'
import { closures } from './closure.ts'
import type { SharedFunction } from './functions.ts'
import { mapSchemas } from './json-schema.ts'
import { linkAjv } from './link-ajv.ts'
import { printSeen, printUnevaluated, type SeenWriter, type UnevaluatedKeyword } from './unevaluated.ts'

export const COMPILED_FILE = 'validators-compiled.js'

export interface Compiler {
  /** Returns the name of the function for the rules at a location. */
  add(api: Api, place: SourceLocation): string
  names(): string[]
  /** @param functions prints functions that are shared with other files. */
  print(functions: (names: ReadonlySet<SharedFunction>) => string): string | undefined
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)

export function createCompiler(): Compiler {
  const schemas = createSchemas()
  const ids = new Map<string, string>()
  const names = () => [...ids.keys()].sort(compare)
  return {
    add(api, place) {
      const graph = graphOf(api)
      const id = graph.idOf(place.pointer)
      try {
        addReached(schemas, graph, place.pointer)
        schemas.ajv.getSchema(id)
      } catch (error) {
        const message = `ajv cannot compile this schema: ${error instanceof Error ? error.message : String(error)}`
        const hint = 'rewrite it with other keywords'
        throw new DiagnosticsError([{ code: 'schema-not-compiled', severity: 'error', place, message, hint }])
      }
      const name = `compiled$${id.slice(1)}`
      ids.set(name, id)
      return name
    },
    names,
    print(functions) {
      if (ids.size === 0) return undefined
      const helpers = schemas.printHelpers()
      // In the order of compilation, because ajv prints a cycle twice if it enters it at a different schema.
      const wanted = [...ids, ...schemas.checks].map(([name, id]) => [`${name}$`, id] as const)
      return linkAjv(standalone.default(schemas.ajv, Object.fromEntries(wanted)) + helpers, functions)
    },
  }
}

interface Schemas {
  readonly ajv: ReturnType<typeof createAjv>
  has(id: string): boolean
  add(id: string, schema: JsonSchema): void
  /** Ids of schemas that helpers validate with, by function name. */
  readonly checks: ReadonlyMap<string, string>
  /** Returns the functions that ajv does not generate. */
  printHelpers(): string
}

/** Schemas by id, with calls of helper functions for keywords that ajv does not support. */
function createSchemas(): Schemas {
  const ajv = createAjv()
  const known = new Map<string, JsonSchema>()
  const checks = new Map<string, string>()
  const helpers = new Map<string, string>()
  const waiting: (() => void)[] = []
  const later = (name: string, print: () => string): string => {
    if (!helpers.has(name)) {
      helpers.set(name, '')
      // Printed later, because it may refer to schemas that are not yet known.
      waiting.push(() => helpers.set(name, print()))
    }
    return name
  }
  const add = (id: string, schema: JsonSchema): void => {
    if (known.has(id)) return
    known.set(id, schema)
    const replaced = mapSchemas(schema, (each) => besidePrefix({ ...each, ...unevaluatedOf(each) }))
    ajv.addSchema(typeof replaced === 'boolean' ? { $id: id, allOf: [replaced] } : { $id: id, ...replaced })
  }
  const writer: SeenWriter = {
    check(schema) {
      const hash = digest(JSON.stringify(schema))
      add(`c${hash}`, schema)
      checks.set(`check$${hash}`, `c${hash}`)
      return `check$${hash}$`
    },
    seenBy: (id, keyword) =>
      later(`${keyword}$${id}`, () => printSeen(`${keyword}$${id}`, known.get(id)!, keyword, writer)),
  }
  const unevaluatedOf = (rules: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      (['unevaluatedItems', 'unevaluatedProperties'] satisfies UnevaluatedKeyword[])
        .filter((keyword) => keyword in rules)
        .map((keyword) => {
          const name = `rest$${digest(JSON.stringify([keyword, rules]))}`
          return [keyword, later(name, () => printUnevaluated(name, rules, keyword, writer))]
        }),
    )
  return {
    ajv,
    has: (id) => known.has(id),
    add,
    checks,
    printHelpers() {
      for (let next = waiting.pop(); next; next = waiting.pop()) next()
      return [...helpers]
        .sort(([a], [b]) => compare(a, b))
        .map(([, text]) => text)
        .join('')
    },
  }
}

/**
 * ajv skips other keywords if a list is shorter than `prefixItems`, so these are moved into an `allOf`, which runs
 * first.
 */
function besidePrefix(rules: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!('prefixItems' in rules)) return rules
  const beside = Object.entries(rules).filter(([name]) => BESIDE_PREFIX.includes(name))
  if (beside.length === 0) return rules
  const others = Object.entries(rules).filter(([name]) => !BESIDE_PREFIX.includes(name))
  const all = Array.isArray(rules.allOf) ? rules.allOf : []
  return { ...Object.fromEntries(others), allOf: [...all, Object.fromEntries(beside)] }
}

const BESIDE_PREFIX = ['contains', 'minContains', 'maxContains', 'uniqueItems', 'unevaluatedItems']

interface Graph {
  readonly rules: ReadonlyMap<string, JsonSchema>
  idOf(pointer: string): string
}

const graphs = new WeakMap<Api, Graph>()

/** Returns the graph of a version's schemas and their references. */
function graphOf(api: Api): Graph {
  const known = graphs.get(api)
  if (known) return known
  const nodes = [...api.rules].map(([pointer, schema]) => {
    const refs = new Set<string>()
    withIds(schema, (target) => {
      refs.add(target)
      return target
    })
    return [pointer, { text: JSON.stringify(schema), refs }] as const
  })
  const hashes = closures(new Map(nodes))
  const graph: Graph = { rules: api.rules, idOf: (pointer) => `s${digest(hashes.get(pointer)!.hash)}` }
  graphs.set(api, graph)
  return graph
}

function addReached(schemas: Schemas, graph: Graph, pointer: string): void {
  const waiting = [pointer]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const id = graph.idOf(next)
    if (schemas.has(id)) continue
    const schema = withIds(graph.rules.get(next)!, (target) => {
      waiting.push(target)
      return graph.idOf(target)
    })
    schemas.add(id, schema)
  }
}

/** Replaces each reference `#<pointer>` with an id. @param idOf returns the id for a pointer. */
const withIds = (schema: JsonSchema, idOf: (pointer: string) => string): JsonSchema =>
  mapSchemas(schema, (rules) =>
    typeof rules.$ref === 'string' ? { ...rules, $ref: idOf(rules.$ref.slice(1)) } : rules,
  )
