/**
 * Makes the values that a mock answers with: examples of the document, else the simplest value that a schema allows,
 * else a generated one.
 */
import fc from 'fast-check'
import { sampleContent } from '../emit/reference/sample.ts'
import type { Api, ApiContent, Property, Schema } from '../ir/model.ts'
import { lookUp } from '../runtime/explain/references.ts'
import { shapeOf } from '../translate/shape.ts'
import { type ArbitrarySource, arbitrariesOf } from '../values/arbitrary.ts'
import { validatorAt } from './tables.ts'

/** Number of generated values to try until one fits its schema. */
const TRIES = 20

export interface ValueMaker {
  /** Returns an example of a response body. The same `key` gives the same value. */
  body(content: ApiContent, key: string): unknown
  /** Returns a value that fits a schema, or undefined if none was found. `accepts` can refuse values. */
  value(schema: Schema, key: string, accepts?: (value: unknown) => boolean): unknown
}

/** Creates the values of a version; the same seed gives the same values. */
export function createValueMaker(api: Api, seed: number): ValueMaker {
  const source: ArbitrarySource = {
    api,
    domains: {},
    hidden: 'writeOnly',
    members: () => undefined,
    preferred: () => [],
    freed: () => undefined,
  }
  const arbitraryOf = arbitrariesOf(source)
  const value: ValueMaker['value'] = (schema, key, accepts = () => true) => {
    const fits = validatorAt(api, schema.place.pointer)
    const own = hashOf(`${seed} ${key}`)
    return fc
      .sample(arbitraryOf(schema), { seed: own, numRuns: TRIES })
      .find((each) => each !== undefined && fits(each) && accepts(each))
  }
  return {
    value,
    body(content, key) {
      const sample = sampleContent(api, content, 'writeOnly')
      // An example of the document is used as it is.
      if (content.examples.length > 0) return sample
      const isValid = sample !== undefined && validatorAt(api, `${content.place.pointer}/schema`)(sample)
      return isValid ? sample : (repair(api, content.schema, sample, value, key) ?? sample)
    },
  }
}

/** Generates only the properties of a sample that do not fit, so that its examples are kept. */
function repair(api: Api, schema: Schema, sample: unknown, value: ValueMaker['value'], key: string): unknown {
  const shape = shapeOf(schema, api, new Set())
  if (!shape || !isObject(sample)) return value(schema, key)
  const repaired: Record<string, unknown> = { ...sample }
  for (const [name, property] of shape.properties) {
    if (repaired[name] === undefined && !property.required) continue
    if (property.writeOnly || fitsProperty(api, property, repaired[name])) continue
    const made = repair(api, property.schema, repaired[name], value, `${key}.${name}`)
    if (made === undefined) delete repaired[name]
    else repaired[name] = made
  }
  return validatorAt(api, schema.place.pointer)(repaired) ? repaired : value(schema, key)
}

/** Returns whether a value is valid for a property. */
export const fitsProperty = (api: Api, { schema }: Property, value: unknown): boolean =>
  value !== undefined && validatorAt(api, schema.place.pointer)(value)

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the example of this name, or undefined if the document has none. */
export function namedExample(api: Api, content: ApiContent, name: string): { value: unknown } | undefined {
  const raw = lookUp(api.document, content.place.pointer)
  const names = isObject(raw) && isObject(raw.examples) ? Object.keys(raw.examples) : []
  const index = names.indexOf(name)
  // A single `example` comes before the named ones.
  const first = content.examples.length - names.length
  return index < 0 ? undefined : { value: content.examples[first + index] }
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash | 0
}
