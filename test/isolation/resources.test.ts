/** A resource with handlers is known to every list that has to know of it; what lacks it is named, with its line. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { loadDocument } from '../../generators/document/load.ts'
import { buildApi } from '../../generators/ir/build.ts'
import {
  type ResourceOperationView,
  type ResourceView,
  viewResource,
} from '../../generators/scaffold/resource-view.ts'
import { RECORD_TABLES } from '../../runtime/account/account/wipe-queries.ts'
import { RECIPES } from '../../runtime/cli/trigger-recipes.ts'
import type { Database } from '../../runtime/database/database.ts'
import { handlers } from '../../runtime/process/handlers.ts'
import { type Crowd, FILLED } from './crowd.ts'
import { writtenLists } from './lists.ts'
import { everyList } from './pages.ts'

const file = `openapi/${current}.yaml`
const report = createReport()
const api = buildApi(loadDocument(file, report)!, report)
const written = api.operations.filter(({ id }) => Object.hasOwn(handlers, id))
const resources: readonly ResourceView[] = [...new Set(written.map(({ tag }) => tag))].map((tag) =>
  viewResource(
    api,
    tag,
    written.filter((operation) => operation.tag === tag),
  ),
)
const operations = resources.flatMap((resource) => resource.operations)

const lines = readFileSync(file, 'utf8').split('\n')

/** `openapi/2026-05-19.yaml:604: createBook`. */
const placeOf = ({ id }: ResourceOperationView) =>
  `${file}:${lines.findIndex((line) => line.trim() === `operationId: ${id}`) + 1}: ${id}`

test('there are resources that are made and listed', () => {
  const made = resources.filter(({ create, list }) => create && list).map(({ tag }) => tag)
  expect(made).toEqual(expect.arrayContaining(['pass_templates', 'passes', 'webhook_endpoints']))
})

test('an event that an operation is named after can be triggered', () => {
  const lacking = operations.filter(({ event }) => event !== undefined && !Object.hasOwn(RECIPES, event))
  expect(
    lacking.map((each) => `${placeOf(each)}: runtime/cli/trigger-recipes.ts lacks '${each.event}'`),
  ).toEqual([])
})

test('plans are looked at with many rows in each table of records', () => {
  const lacking = RECORD_TABLES.filter((name) => !FILLED.includes(name))
  expect(lacking.map((name) => `test/isolation/crowd.ts: TABLES lacks ${name}`)).toEqual([])
})

test('plans are looked at of each list', () => {
  const crowd = { tenantId: '', from: 0, rows: 0 } as Crowd
  const prefixes = everyList({} as Database, crowd, 0).map(({ prefix }) => prefix)
  const lacking = resources.filter(
    ({ list, idPrefix }) =>
      list && writtenLists('live').includes(list.path) && idPrefix !== '' && !prefixes.includes(idPrefix),
  )
  expect(
    lacking.map(({ list, idPrefix }) => `${placeOf(list!)}: test/isolation/pages.ts reads no ${idPrefix}_…`),
  ).toEqual([])
})
