/** The types that handlers and clients get in place of JSON values: the option `types` of the configuration. */
/** Types by format. A format without a type keeps its JSON type. */
export interface TypeMapping {
  /** Integers with `format: int64`. */
  readonly int64?: 'bigint'
  readonly 'date-time'?: 'Date' | 'Temporal.Instant'
  readonly date?: 'Temporal.PlainDate'
}

export type MappedType = NonNullable<TypeMapping[keyof TypeMapping]>

/** The types that each format can have. */
export const MAPPED_TYPES: Readonly<Record<keyof TypeMapping, readonly MappedType[]>> = {
  int64: ['bigint'],
  'date-time': ['Date', 'Temporal.Instant'],
  date: ['Temporal.PlainDate'],
}

/** Returns the type of a format, given the JSON type of its values. */
export function mappedType(
  types: TypeMapping | undefined,
  kind: string,
  format: unknown,
): MappedType | undefined {
  if (format === 'int64') return kind === 'integer' ? types?.int64 : undefined
  return kind === 'string' && (format === 'date-time' || format === 'date') ? types?.[format] : undefined
}

/** The part of a schema that its type depends on. */
interface FormattedSchema {
  readonly kind: string
  readonly integer?: boolean
  readonly format?: string
}

/** Returns the type of a schema's values, if they are not JSON values for handlers and clients. */
export function typeOfSchema(
  types: TypeMapping | undefined,
  schema: FormattedSchema,
): MappedType | undefined {
  if (schema.kind === 'number')
    return schema.integer ? mappedType(types, 'integer', schema.format) : undefined
  return schema.kind === 'string' ? mappedType(types, 'string', schema.format) : undefined
}
