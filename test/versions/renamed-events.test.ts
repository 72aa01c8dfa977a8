/** Event types that get new names, over three versions: an old caller gets its own name, and the payload of its version. */
import { expect, test } from 'vitest'
import type { Lens } from '../../generators/change/change.ts'
import type { LoadedChange } from '../../generators/change/load-changes.ts'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { emitEvents } from '../../generators/emit/events/events.ts'
import { emitTranslations } from '../../generators/emit/translations/translations.ts'
import { checkSteps } from '../../generators/gate/gate.ts'
import { claimSteps } from '../../generators/gate/steps.ts'
import { read } from '../ir/document.ts'
import { runEmitted } from './emitted.ts'

const VERSIONS = ['2030-01-01', '2030-06-01', '2031-01-01']

/** @param events the property of each event's payload, by event type. */
const documentOf = (version: string, events: Readonly<Record<string, string>>) =>
  read(
    `paths: {}\nwebhooks: { ${Object.entries(events)
      .map(
        ([name, property]) =>
          `${name}: { post: { requestBody: { content: { application/json: { schema: { type: object, properties: { ${property}: { type: string } } } } } }, responses: { '204': { description: ok } } } }`,
      )
      .join(', ')} }\n`,
    `openapi: 3.1.0\ninfo: { title: T, version: ${version} }\n`,
  ).api

const changeOf = (version: string, lenses: readonly Lens[]): LoadedChange => ({
  id: 'change',
  why: '',
  lenses,
  version,
  file: `versions/${version}/change.ts`,
})

const APIS = [
  documentOf(VERSIONS[0]!, { lent: 'a', lost: 'a' }),
  documentOf(VERSIONS[1]!, { borrowed: 'b', lost: 'a' }),
  documentOf(VERSIONS[2]!, { 'borrowed.book': 'b', 'borrowed.film': 'c' }),
]

const CHANGES = [
  changeOf(VERSIONS[1]!, [
    { kind: 'renamed-event', from: 'lent', to: 'borrowed' },
    { kind: 'rename', schemas: ['event borrowed'], from: 'a', to: 'b' },
  ]),
  changeOf(VERSIONS[2]!, [
    { kind: 'renamed-event', from: 'borrowed', to: 'borrowed.book' },
    { kind: 'renamed-event', from: 'borrowed', to: 'borrowed.film' },
    { kind: 'rename', schemas: ['event borrowed.film'], from: 'b', to: 'c' },
    { kind: 'accept', code: 'event-removed', at: ['event lost'] },
  ]),
]

test('the gate finds no difference that the lenses leave', () => {
  const found = checkSteps(claimSteps(APIS, CHANGES), { versions: 'versions', out: 'generated' })
  expect(found.map(({ code, message }) => `${code} ${message}`)).toEqual([])
})

test.each([
  ['from', 'lend', 'borrowed', '2030-01-01 has no event lend'],
  ['to', 'lent', 'borrow', '2030-06-01 has no event borrow'],
])('the gate reports a rename whose `%s` is not an event', (_, from, to, message) => {
  const wrong = changeOf(VERSIONS[1]!, [...CHANGES[0]!.lenses, { kind: 'renamed-event', from, to }])
  const found = checkSteps(claimSteps(APIS.slice(0, 2), [wrong]), {
    versions: 'versions',
    out: 'generated',
  })
  expect(found.map(({ code, message: text }) => `${code} ${text}`)).toContain(
    `change-claims-nothing change renames event ${from} to ${to}, but ${message}`,
  )
})

test('each version gets an event under its own name and with its own payload', () => {
  const translations = emitTranslations(APIS, CHANGES, createReport(), 'generated')
  const emitted = runEmitted(translations, CHANGES)
  const sent = (version: string, name: string, payload: unknown) => {
    const bindings = translations.bindings.get(version)!
    return [bindings.eventNames.get(name), emitted.find(bindings.downEvent(name))?.(payload) ?? payload]
  }
  expect(sent(VERSIONS[1]!, 'borrowed.film', { c: 'Emma' })).toEqual(['borrowed', { b: 'Emma' }])
  expect(sent(VERSIONS[0]!, 'borrowed.film', { c: 'Emma' })).toEqual(['lent', { a: 'Emma' }])
  expect(sent(VERSIONS[0]!, 'borrowed.book', { b: 'Emma' })).toEqual(['lent', { a: 'Emma' }])
  expect(sent(VERSIONS[0]!, 'lost', { a: 'Emma' })).toEqual(['lost', { a: 'Emma' }])
})

test('the table of a version lists events by their canonical names', () => {
  const { bindings } = emitTranslations(APIS, CHANGES, createReport(), 'generated')
  const files = new Map(emitEvents(APIS, CHANGES, bindings).map(({ path, text }) => [path, text]))
  const rows = files
    .get(`${VERSIONS[0]}/events.ts`)!
    .split('\n')
    .filter((line) => line.startsWith('  '))
  expect(rows.map((row) => row.replace(/, down: \w+/, ', down'))).toEqual([
    "  'borrowed.book': { since: '2030-01-01', name: 'lent', headers, down },",
    "  'borrowed.film': { since: '2030-01-01', name: 'lent', headers, down },",
    "  lost: { since: '2030-01-01', headers },",
  ])
  expect(files.get('canonical/events.ts')).not.toMatch(/\blent\b/)
})
