/** Visits schemas. */
import type { Schema } from './model.ts'

/** Visits a schema and every schema inside it. Does not follow references. */
export function walk(schema: Schema, visit: (schema: Schema) => void): void {
  visit(schema)
  const inside: Schema[] = []
  if (schema.kind === 'array') inside.push(schema.items, ...schema.prefix)
  if (schema.kind === 'union' || schema.kind === 'intersection') inside.push(...schema.members)
  if (schema.kind === 'object') {
    inside.push(
      ...schema.properties.map((property) => property.schema),
      ...schema.patterns.map((each) => each.schema),
    )
    if (typeof schema.additional === 'object') inside.push(schema.additional)
    if (schema.propertyNames) inside.push(schema.propertyNames)
  }
  for (const each of inside) walk(each, visit)
}

/** Returns the names of the components that a schema refers to. */
export function componentsIn(schema: Schema): string[] {
  const names: string[] = []
  walk(schema, (each) => {
    if (each.kind === 'ref') names.push(each.name)
  })
  return names
}
