/** Completes drafts with values that fit the documents, to show what remains of a family once its holes are decided. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Lens } from '../../generators/change/change.ts'
import { holesIn } from '../../generators/change/decide.ts'
import type { LoadedChange } from '../../generators/change/load-changes.ts'
import type { Api, Schema } from '../../generators/ir/model.ts'
import { schemaAt } from '../../generators/translate/inline-place.ts'
import { shapeOf } from '../../generators/translate/shape.ts'
import { createMaker, simplest } from '../../generators/witness/simplest.ts'

/** Replaces each hole of a change in its file. The first hole may be the reason. */
export function completeDraft(change: LoadedChange, old: Api, next: Api): void {
  const holes = [
    ...holesIn(change.why).map((hole) => ({ ...hole, text: "'Decided.'" })),
    ...change.lenses.flatMap((lens) =>
      Object.entries(lens).flatMap(([name, value]) =>
        holesIn(value).map((hole) => ({ ...hole, text: decisionOf(lens, name, old, next) })),
      ),
    ),
  ]
  const lines = readFileSync(change.file, 'utf8').replace('between, decide', 'between').split('\n')
  for (const { line, column, text } of holes.toSorted((a, b) => b.column - a.column)) {
    const written = lines[line - 1]!
    const rest = written.slice(column - 1).replace(/^decide\('(?:[^'\\]|\\.)*'\)/, () => text)
    lines[line - 1] = written.slice(0, column - 1) + rest
  }
  writeFileSync(change.file, lines.join('\n'))
}

/** Returns the source text for the hole in a member of a lens. */
function decisionOf(lens: Lens, member: string, old: Api, next: Api): string {
  const up =
    member === 'up' ||
    (lens.kind !== 'drop' && member === 'value' && !/^(optional|nullable)$/.test(lens.kind))
  const api = up ? next : old
  const value = (schema: Schema | undefined) =>
    schema ? JSON.stringify(sampleOf(api, schema)) : 'undefined as never'
  if (lens.kind === 'values') return value(schemaIn(api, lens.schemas[0]!, lens.property))
  if (lens.kind === 'default-parameter' || lens.kind === 'converted-parameter') {
    const parameter = next.operations
      .filter(({ id }) => lens.operations.length === 0 || lens.operations.includes(id))
      .flatMap(
        ({ parameters }) => parameters.find((each) => each.in === lens.in && each.name === lens.name) ?? [],
      )
    return lens.kind === 'converted-parameter'
      ? `() => (${value(parameter[0]?.schema)} as never)`
      : value(parameter[0]?.schema)
  }
  if (!('schemas' in lens)) return 'undefined as never'
  const property = 'property' in lens ? lens.property : undefined
  const made = value(schemaIn(api, lens.schemas[0]!, property))
  if (member === 'value') return made
  // One value for all others loses what differs.
  return `() => (${made} as never)${lens.kind !== 'drop' && member === 'up' ? ", loss: 'drop'" : ''}`
}

function schemaIn(api: Api, place: string, property: string | undefined): Schema | undefined {
  const schema = schemaAt(api, place)
  if (!schema || property === undefined) return schema
  return shapeOf(schema, api, new Set([place]))?.properties.get(property)?.schema
}

/** Returns the simplest value that fits a schema and is not null. */
const sampleOf = (api: Api, schema: Schema): unknown =>
  simplest(createMaker(api, 'writeOnly'), { ...schema, nullable: false })
