/** Events as each version shows them, without a database. */

import { describe, expect, test } from 'vitest'
import { events as views } from '../../generated/events.ts'
import { renderEvent, renderingVersion } from '../../runtime/events/emit/emit.ts'
import type { NewEvent } from '../../runtime/events/emit/queries.ts'
import { VERSIONS } from '../api/fixtures.ts'

const NOW = Date.parse('2026-06-01T12:00:00.000Z')

const template = (content: object) => ({
  pass_template: {
    id: 'tpl_1',
    name: 'Coffee',
    metadata: {},
    fields: [],
    relevant_locations: [],
    updated: '1',
    ...content,
  },
})

const render = (version: string, event: NewEvent) => {
  const rendered = renderEvent(views, version, event, NOW)
  return rendered && { ...JSON.parse(rendered.body), source: rendered.source }
}

describe('an event of change', () => {
  const change = (before: object, after: object): NewEvent => ({
    type: 'pass_template.updated',
    data: template(after),
    before: template(before),
  })

  test.each([
    ['a member', { name: 'Tea' }, { name: 'Coffee' }, { name: 'Tea' }],
    ['what was not there', {}, { label: 'x' }, { label: null }],
    ['what is gone', { label: 'x' }, {}, { label: 'x' }],
    [
      'of a map, what differs',
      { metadata: { a: '1', b: '2' } },
      { metadata: { a: '1', b: '3', c: '4' } },
      { metadata: { b: '2', c: null } },
    ],
    ['a list, whole', { fields: [1, 2] }, { fields: [1, 3] }, { fields: [1, 2] }],
    ['also when it was changed', { name: 'Tea', updated: '0' }, {}, { name: 'Tea', updated: '0' }],
  ])('an event of change tells %s as it was', (_, before, after, previous) => {
    expect(render('2026-05-19', change(before, after))?.previous_attributes).toEqual(previous)
  })

  test('an event of change is none when nothing changed but the time', () => {
    expect(render('2026-05-19', change({ updated: '0' }, {}))).toBeUndefined()
  })

  test('an event of change is none when the version does not see what changed', () => {
    const moved = change({ relevant_locations: [] }, { relevant_locations: [{ latitude: 1, longitude: 2 }] })
    expect(render('2026-05-19', moved)?.previous_attributes).toEqual({ relevant_locations: [] })
    expect(render('2026-02-01', moved)).toBeUndefined()
  })

  test('an event of change tells what was before from 2026-05-19 on, and keeps the form of the canonical version where it tells less', () => {
    const renamed = change({ name: 'Tea' }, {})
    expect(render('2026-05-19', renamed)).toMatchObject({
      previous_attributes: { name: 'Tea' },
      source: undefined,
    })
    for (const version of VERSIONS.slice(0, 3)) {
      const event = render(version, renamed)
      expect(event).not.toHaveProperty('previous_attributes')
      expect(event).not.toHaveProperty('data.pass_template.relevant_locations')
      expect(event.source).toEqual({ data: renamed.data, before: renamed.before })
    }
  })
})

test.each(VERSIONS)('a type is rendered in %s when the version has it', (version) => {
  const records = { pass: {}, payout: {}, authorization_decision: {}, cardholder: {} }
  for (const [type, since] of [
    ['pass.created', '2025-06-01'],
    ['payout.paid', '2025-11-01'],
    ['authorization_decision.errored', '2026-02-01'],
    ['cardholder.sanctions.alert', '2026-05-19'],
  ] as const) {
    expect([type, renderEvent(views, version, { type, data: records }, NOW) !== undefined]).toEqual([
      type,
      version >= since,
    ])
  }
})

test.each([
  ['the pin', '2025-11-01', '2026-06-01T00:00:00Z', '2025-11-01'],
  ['the newest where there is none', null, '2026-06-01T00:00:00Z', '2026-05-19'],
  ['the pin on the last day', '2025-06-01', '2027-02-01T23:59:59.999Z', '2025-06-01'],
  ['the oldest still answered after its sunset', '2025-06-01', '2027-02-02T00:00:00Z', '2026-02-01'],
])('the version that an event is rendered in is %s', (_, pin, now, version) => {
  expect(renderingVersion(pin, Date.parse(now))).toBe(version)
})
