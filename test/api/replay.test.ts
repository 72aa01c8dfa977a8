/** The service's replay of logged requests. */
import { expect, test } from 'vitest'
import { versions } from '../../generated/versions.ts'
import { createReplayLogged } from '../../runtime/api/replay.ts'

const replay = createReplayLogged(versions, '2026-02-01', '2026-05-19')

test('a logged batch has a finding for its body if that is no batch, and for each item that does not fit', () => {
  const findings = (request_body: string) =>
    replay({ method: 'POST', target: '/v1/passes/batch', request_body })?.notes.map(
      ({ kind, field, detail }) => `${kind} ${field} ${detail}`,
    )
  expect(findings('null')).toEqual(['invalid body must be an object'])
  expect(findings('{"passes":[{"holder":{"name":"Ada Moreau"}}]}')).toEqual([
    'invalid body.passes[].template_id is required',
  ])
})
