/** Determines which server-sent events have data that is JSON. */
import type { Api, Scalar, Schema } from './model.ts'

/** One alternative of an event's schema. */
interface EventVariant {
  /** The names that `event` can have; absent if it has no listed names. */
  readonly names?: readonly Scalar[]
  readonly data?: 'json' | 'text'
}

/** The name of events without one (HTML standard). */
const UNNAMED = 'message'

/**
 * Returns the names of the events whose data is JSON.
 *
 * @param item the schema of an event; `data` that is JSON has the schema of its value.
 * @returns true if the data of every event is JSON.
 */
export function jsonEvents(api: Api, item: Schema): true | readonly string[] {
  const variants = variantsOf(api, item, new Set()).filter(({ data }) => data !== undefined)
  if (variants.length > 0 && variants.every(({ data }) => data === 'json')) return true
  const names = variants.flatMap(({ names = [UNNAMED], data }) => (data === 'json' ? names : []))
  return [...new Set(names.map(String))]
}

function variantsOf(api: Api, schema: Schema, seen: ReadonlySet<string>): EventVariant[] {
  switch (schema.kind) {
    case 'ref': {
      const target = api.schemas.get(schema.name)
      return target && !seen.has(schema.name)
        ? variantsOf(api, target, new Set([...seen, schema.name]))
        : [{}]
    }
    case 'union':
      return schema.members.flatMap((member) => variantsOf(api, member, seen))
    case 'intersection':
      return schema.members.reduce<EventVariant[]>(
        (all, member) =>
          variantsOf(api, member, seen).flatMap((more) => all.map((each) => ({ ...each, ...more }))),
        [{}],
      )
    case 'object': {
      const own = (name: string) => schema.properties.find((each) => each.name === name)?.schema
      const [event, data] = [own('event'), own('data')]
      return [
        {
          ...(event?.kind === 'enum' && { names: event.values }),
          ...(data && { data: isText(api, data, seen) ? 'text' : 'json' }),
        },
      ]
    }
    default:
      return [{}]
  }
}

function isText(api: Api, schema: Schema, seen: ReadonlySet<string>): boolean {
  if (schema.kind === 'ref') {
    const target = api.schemas.get(schema.name)
    return (
      target !== undefined && !seen.has(schema.name) && isText(api, target, new Set([...seen, schema.name]))
    )
  }
  if (schema.kind === 'enum') return schema.values.every((value) => typeof value === 'string')
  return schema.kind === 'string' || schema.kind === 'any'
}
