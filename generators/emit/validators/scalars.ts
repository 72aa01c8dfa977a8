/** Prints the validation of scalars as JavaScript expressions. */
import type { SourceLocation } from '../../diagnostics/place.ts'
import type { Schema } from '../../ir/model.ts'
import { type TypeMapping, typeOfSchema } from '../../ir/type-mapping.ts'
import { literal, stringLiteral } from '../../print/literal.ts'
import type { Constants } from './constants.ts'
import { printPattern, STRING_FORMATS } from './functions.ts'

export type Of<Kind extends Schema['kind']> = Extract<Schema, { kind: Kind }>

export interface ScalarWriter {
  readonly constants: Constants
  readonly types: TypeMapping | undefined
  /** Returns the prefix of constant names for a location in the schema: `Dispute$evidence_`. */
  readonly ownerOf: (place: SourceLocation) => string
}

const all = (conditions: readonly (string | false | undefined)[]): string => {
  const kept = conditions.filter((each) => each)
  if (kept.length === 0) return 'true'
  return kept.length === 1 ? String(kept[0]) : `(${kept.join(' && ')})`
}

const above = (sign: string, v: string, bound: number | undefined) =>
  bound !== undefined && `${v} ${sign} ${bound}`

/** Returns an expression that is true if the value is a valid number. */
export function fitsNumber(schema: Of<'number'>, v: string, { constants, types }: ScalarWriter): string {
  // int32 implies bounds; int64, float and double have no effect on JSON.
  const narrow = schema.format === 'int32'
  const fitting = all([
    // JSON.parse returns Infinity for 1e400.
    schema.integer
      ? typeOfSchema(types, schema) === 'bigint'
        ? `(typeof ${v} === 'bigint' || Number.isInteger(${v}))`
        : `Number.isInteger(${v})`
      : `Number.isFinite(${v})`,
    above('>=', v, schema.minimum ?? (narrow ? -(2 ** 31) : undefined)),
    above('<=', v, schema.maximum ?? (narrow ? 2 ** 31 - 1 : undefined)),
    above('>', v, schema.exclusiveMinimum),
    above('<', v, schema.exclusiveMaximum),
    schema.multipleOf !== undefined && `${constants.call('isMultiple')}(${v}, ${schema.multipleOf})`,
  ])
  return schema.untyped ? `(typeof ${v} !== 'number' || ${fitting})` : fitting
}

/** Returns an expression that is true if the value is a valid string. */
export function fitsString(schema: Of<'string'>, v: string, writer: ScalarWriter): string {
  const { minLength: least = 0, maxLength: most, pattern, format } = schema
  const { constants } = writer
  const owner = writer.ownerOf(schema.place)
  const longer =
    most !== undefined &&
    `(${v}.length <= ${most} || (${v}.length <= ${2 * most} && ${constants.call('length')}(${v}) <= ${most}))`
  const shorter =
    least === 1
      ? `${v} !== ''`
      : least > 1 && `(${v}.length >= ${2 * least} || ${constants.call('length')}(${v}) >= ${least})`
  const fitting = all([
    !schema.untyped && `typeof ${v} === 'string'`,
    // The length is checked first, so that a pattern never runs on longer strings.
    longer,
    shorter,
    pattern !== undefined && `${constants.define(`${owner}pattern`, printPattern(pattern))}.test(${v})`,
    format !== undefined &&
      STRING_FORMATS.includes(format) &&
      `${constants.define(`${owner}format`, `${constants.call('format')}(${stringLiteral(format)})`)}(${v})`,
  ])
  return schema.untyped ? `(typeof ${v} !== 'string' || ${fitting})` : fitting
}

/** Returns an expression that is true if the value is a member of the enumeration. */
export function fitsEnum(schema: Of<'enum'>, v: string, writer: ScalarWriter): string {
  const { values } = schema
  if (values.length === 0) return 'false'
  if (values.length > 4) {
    const name = `${writer.ownerOf(schema.place)}values`
    return `${writer.constants.define(name, `new Set(${literal(values)})`)}.has(${v})`
  }
  const each = values.map((value) => `${v} === ${literal(value)}`)
  return each.length === 1 ? each[0]! : `(${each.join(' || ')})`
}
