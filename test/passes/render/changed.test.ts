/** `Last-Modified` of a pass: whole seconds that no two of its states have in common. */
import { expect, test } from 'vitest'
import {
  type ChangeFacts,
  changeAtExpiry,
  changedAt,
  changeNow,
} from '../../../runtime/passes/passes/changed.ts'

const START = Date.parse('2026-06-01T12:00:00.400Z')
const fresh: ChangeFacts = {
  status: 'issued',
  expires_at: null,
  changed: Date.parse('2026-06-01T12:00:00Z'),
  seen_revision: 0,
  template_changed: Date.parse('2026-05-01T12:00:00Z'),
  template_revision: 0,
}

const patch = (pass: ChangeFacts, now: number): ChangeFacts => ({ ...pass, ...changeNow(pass, now) })
const patchTemplate = (pass: ChangeFacts, now: number): ChangeFacts => ({
  ...pass,
  template_changed: Math.max(Math.floor(now / 1000) * 1000, pass.template_changed + 1000),
  template_revision: pass.template_revision + 1,
})

test('each change moves it, in whichever order and however fast they come', () => {
  for (let mask = 0; mask < 2 ** 8; mask += 1) {
    let pass = fresh
    for (let step = 0; step < 8; step += 1) {
      const now = START + step * 150
      const before = changedAt(pass, now)
      pass = (mask >> step) & 1 ? patch(pass, now) : patchTemplate(pass, now)
      expect(changedAt(pass, now)).toBeGreaterThan(before)
    }
  }
})

test('the time of a change is the second of the change, where changes are further apart', () => {
  const hour = 3_600_000
  const second = (ms: number) => Math.floor(ms / 1000) * 1000
  let pass = patchTemplate(patch(patchTemplate(fresh, START + hour), START + 2 * hour), START + 3 * hour)
  expect(changedAt(pass, START + 9 * hour)).toBe(second(START + 3 * hour))
  pass = patch(pass, START + 4 * hour)
  expect(changedAt(pass, START + 9 * hour)).toBe(second(START + 4 * hour))
})

test.each([0, 300, 5000])(
  'an expiry %i ms after the last change moves it once, whoever writes it down',
  (after) => {
    const changed = patch(patch(fresh, START), START)
    const pass = { ...changed, expires_at: START + after }
    const before = changedAt(pass, pass.expires_at - 1)
    const since = changedAt(pass, pass.expires_at)
    expect(since).toBeGreaterThan(before)
    const later = pass.expires_at + 86_400_000
    const written: ChangeFacts = { ...pass, ...changeAtExpiry(pass, later), status: 'expired' }
    expect(changedAt(written, later)).toBe(since)
    expect(changedAt(patchTemplate(pass, later), later)).toBeGreaterThan(since)
    expect(changedAt(patchTemplate(written, later), later)).toBeGreaterThan(since)
  },
)
