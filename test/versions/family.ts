/** The project's own documents, changes and generated tables, as the proof needs them. */
import fc from 'fast-check'
import { events } from '../../generated/events.ts'
import { versions } from '../../generated/versions.ts'
import { loadChanges } from '../../generators/change/load-changes.ts'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { loadDocument } from '../../generators/document/load.ts'
import { emitTranslations, type Translations } from '../../generators/emit/translations/translations.ts'
import { readConfig } from '../../generators/generate/config.ts'
import { buildApi } from '../../generators/ir/build.ts'
import type { Domains } from '../../generators/values/arbitrary.ts'
import catalogue from '../../versions/2026-05-19/merchant-category-codes.json' with { type: 'json' }
import { callable, type Emitted } from './emitted.ts'
import type { Tables } from './proof.ts'

/** Documents of all versions, oldest first, and the changes between them. */
export async function loadFamily() {
  const report = createReport()
  const config = readConfig('dateline.config.json', report)!
  // The documents are linted elsewhere.
  const apis = config.documents
    .flatMap((file) => loadDocument(file, report) ?? [])
    .map((document) => buildApi(document, report))
  const changes = await loadChanges(
    config.versions,
    apis.map((api) => api.version),
    report,
  )
  report.finish()
  return { apis, changes, translations: emitTranslations(apis, changes, report, config.out) }
}

/** Codes of the catalogue, the one for all others, and some that nobody knows. */
export const domains: Domains = {
  MerchantCategoryCode: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...catalogue.map(({ code }) => code)) },
    { weight: 1, arbitrary: fc.constant('0000') },
    { weight: 1, arbitrary: fc.stringMatching(/^[0-9]{4}$/) },
  ),
}

/** The tables that the service runs. */
export function generatedTables(): Tables {
  const find = (version: string, id: string) =>
    versions.find((each) => each.name === version)?.operations.find((each) => each.id === id)
  return {
    up(version, kind, { id }) {
      const operation = find(version, id)
      if (kind === 'item') return callable(operation?.body?.each?.up)
      return callable(kind === 'body' ? operation?.upBody : operation?.upQuery)
    },
    down: (version, { id }) => callable(find(version, id)?.down),
    downs: (version, { id }) =>
      new Map(
        Object.entries(find(version, id)?.downs ?? {}).map(([status, each]) => [status, callable(each)]),
      ),
    downField: (version, { id }) => find(version, id)?.downField,
    downEvent: (version, { name }) => callable(events[version]?.[name]?.down),
  }
}

/** The same from memory, each function watched. */
export function emittedTables({ bindings }: Translations, emitted: Emitted): Tables {
  const of = (version: string) => bindings.get(version)!
  return {
    up(version, kind, operation) {
      if (kind === 'item') return emitted.find(of(version).upItem(operation))
      return emitted.find(kind === 'body' ? of(version).upBody(operation) : of(version).upQuery(operation))
    },
    down: (version, operation) => emitted.find(of(version).down(operation)),
    downs: (version, operation) =>
      new Map([...of(version).downs(operation)].map(([status, bound]) => [status, emitted.find(bound)])),
    downField: (version, operation) => emitted.find(of(version).downField(operation)),
    downEvent: (version, { name }) => emitted.find(of(version).downEvent(name)),
  }
}
