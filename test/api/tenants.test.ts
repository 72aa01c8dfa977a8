/** Nothing of one tenant or environment shows in another. */
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, makeTenant, type Send, useService } from '../support/service.ts'
import { issuePass, makeTemplate, NO_PASS, NO_TEMPLATE, speakFor } from './fixtures.ts'

const service = useService({ poolSize: 10 })
let tenantId: string
let send: Send
let templateId: string

beforeAll(async () => {
  tenantId = await makeTenant(service)
  send = await speakFor(service, tenantId)
  templateId = await makeTemplate(send)
})

describe('another tenant', () => {
  test('another tenant finds nothing of it, and reads what a missing object reads', async () => {
    const pass = await issuePass(send, templateId)
    const other = await speakFor(service, await makeTenant(service))
    const live = await speakFor(service, tenantId, 'live')
    for (const by of [other, live]) {
      for (const [method, path, missing, body] of [
        ['GET', `/v1/pass_templates/${templateId}`, `/v1/pass_templates/${NO_TEMPLATE}`],
        ['PATCH', `/v1/pass_templates/${templateId}`, `/v1/pass_templates/${NO_TEMPLATE}`, { name: 'x' }],
        ['POST', `/v1/pass_templates/${templateId}/archive`, `/v1/pass_templates/${NO_TEMPLATE}/archive`],
        ['GET', `/v1/passes/${pass.id}`, `/v1/passes/${NO_PASS}`],
        ['PATCH', `/v1/passes/${pass.id}`, `/v1/passes/${NO_PASS}`, { metadata: {} }],
        ['POST', `/v1/passes/${pass.id}/revoke`, `/v1/passes/${NO_PASS}/revoke`],
        ['POST', `/v1/passes/${pass.id}/archive`, `/v1/passes/${NO_PASS}/archive`],
        ['POST', '/v1/passes', '/v1/passes', { template_id: templateId }],
      ] as const) {
        const plain = ({ status, body: { error } }: Answer) => [status, { ...error, request_id: undefined }]
        const call = { method, ...(body && { body }) }
        const wanted = path === missing ? { ...call, body: { template_id: NO_TEMPLATE } } : call
        const [foreign, absent] = [await by(path, call), await by(missing, wanted)]
        expect(plain(foreign)).toEqual(plain(absent))
        expect([404, 422]).toContain(foreign.status)
      }
      const batch = await by('/v1/passes/batch_revoke', { body: { ids: [pass.id] } })
      expect(batch.body.results[0].error.code).toBe('not_found')
      expect((await by(`/v1/passes?template_id=${templateId}`)).body.data).toEqual([])
      expect((await by(`/v1/passes/count?template_id=${templateId}`)).body.count).toBe(0)
    }
    expect((await send(`/v1/passes/${pass.id}`)).body.status).toBe('issued')
  })
})
