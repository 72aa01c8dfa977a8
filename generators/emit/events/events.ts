/** Emits the events of each version: its types, header names and translations. */
import type { LoadedChange } from '../../change/load-changes.ts'
import type { Api, EventType, OutputFile } from '../../ir/model.ts'
import { identifier } from '../../ir/naming.ts'
import { createFile } from '../../print/file.ts'
import { literal, propertyKey, stringLiteral } from '../../print/literal.ts'
import { CONTRACT } from '../../print/runtime.ts'
import type { TranslationBindings } from '../translations/translations.ts'

/**
 * Emits a table for each version, a table of all versions, and the payload types; nothing if there are no events.
 * @param apis oldest first.
 */
export function emitEvents(
  apis: readonly Api[],
  changes: readonly LoadedChange[],
  bindings: ReadonlyMap<string, TranslationBindings>,
): OutputFile[] {
  if (apis.every((api) => api.events.length === 0)) return []
  const since = new Map<string, string>()
  for (const api of apis)
    for (const { name } of namedEvents(api, bindings.get(api.version)))
      if (!since.has(name)) since.set(name, api.version)
  const tables = apis.map((api, index) => ({
    path: `${api.version}/events.ts`,
    text: printTable(api, since, renamesAfter(apis.slice(index + 1), changes), bindings.get(api.version)),
  }))
  return [
    ...tables,
    { path: 'events.ts', text: printTables(apis) },
    { path: 'canonical/events.ts', text: printPayloads(apis, new Set(since.keys())) },
  ]
}

/** Returns the events of a version with their canonical names. */
const namedEvents = (api: Api, bindings: TranslationBindings | undefined) =>
  api.events.flatMap((event) =>
    bindings
      ? [...bindings.eventNames].flatMap(([name, own]) => (own === event.name ? [{ name, event }] : []))
      : [{ name: event.name, event }],
  )

/**
 * Prints the payload type of every event, as the newest version that has it describes it.
 *
 * @param names the canonical names.
 */
function printPayloads(apis: readonly Api[], names: ReadonlySet<string>): string {
  const newest = apis.at(-1)!
  const file = createFile(['EventPayloads'])
  const rows = new Map<string, string>()
  for (const api of apis.toReversed()) {
    for (const { name, payload } of api.events) {
      if (rows.has(name) || !names.has(name)) continue
      const schema = payload?.schema
      if (schema?.kind !== 'ref') {
        rows.set(name, 'unknown')
        continue
      }
      const as = api === newest ? 'components' : identifier(`components_${api.version}`)
      const components = file.use('components', `../${api.version}/types.ts`, { type: true, as })
      rows.set(name, `${components}['schemas'][${stringLiteral(schema.name)}]`)
    }
  }
  file.print('/** Payloads by event type, in the canonical version. */', 'export interface EventPayloads {')
  for (const [name, type] of rows) file.print(`  ${propertyKey(name)}: ${type}`)
  file.print('}')
  return file.text()
}

/** Returns a function from a version's header names to the names in later versions. */
function renamesAfter(later: readonly Api[], changes: readonly LoadedChange[]): (header: string) => string {
  const renames = later.flatMap((api) =>
    changes
      .filter((change) => change.version === api.version)
      .flatMap((change) => change.lenses.flatMap((lens) => (lens.kind === 'renamed-header' ? [lens] : []))),
  )
  return (header) => renames.reduce((name, { from, to }) => (name === from ? to : name), header)
}

function printTable(
  api: Api,
  since: ReadonlyMap<string, string>,
  canonicalName: (header: string) => string,
  bindings: TranslationBindings | undefined,
): string {
  const file = createFile(['events'])
  const view = file.use('EventView', CONTRACT, { type: true })
  const shared = new Map<string, string>()
  const rows = namedEvents(api, bindings).map(({ name: canonical, event }) => {
    const headers = literal(headersOf(event, canonicalName))
    const name =
      shared.get(headers) ?? identifier(shared.size === 0 ? 'headers' : `headers_${shared.size + 1}`)
    shared.set(headers, name)
    const bound = bindings?.downEvent(canonical)
    const down = bound && file.use(bound.name, `../translations/${bound.version}.ts`)
    const members = [
      `since: ${stringLiteral(since.get(canonical) ?? api.version)}`,
      ...(canonical === event.name ? [] : [`name: ${stringLiteral(event.name)}`]),
      name === 'headers' ? 'headers' : `headers: ${name}`,
      ...(down ? [`down: ${down}`] : []),
    ]
    return `  ${propertyKey(canonical)}: { ${members.join(', ')} },`
  })
  for (const [headers, name] of shared) file.print(`const ${name} = ${headers}`)
  file.print('', '/** Events by type. Types that are not listed are never sent in this version. */')
  file.print(`export const events: Readonly<Record<string, ${view}>> = {`, ...rows, '}')
  return file.text()
}

function headersOf(event: EventType, canonicalName: (header: string) => string): Record<string, string> {
  return Object.fromEntries(event.headers.map(({ name }) => [canonicalName(name), name]))
}

function printTables(apis: readonly Api[]): string {
  const file = createFile(['events'])
  const view = file.use('EventView', CONTRACT, { type: true })
  const rows = apis.map((api) => {
    const name = file.use('events', `./${api.version}/events.ts`, { as: identifier(`events_${api.version}`) })
    return `  ${stringLiteral(api.version)}: ${name},`
  })
  file.print('/** Events by version and type. */')
  file.print(
    `export const events: Readonly<Record<string, Readonly<Record<string, ${view}>>>> = {`,
    ...rows,
    '}',
  )
  return file.text()
}
