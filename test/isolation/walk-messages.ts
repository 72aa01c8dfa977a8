import { expect } from 'vitest'
import { passMessageBatchWorker } from '../../runtime/passes/pass-messages/batch-job.ts'
import { passMessageWorker } from '../../runtime/passes/pass-messages/job.ts'
import { writeSentToGoogle } from '../../runtime/passes/pass-messages/work-queries.ts'
import { openPassTokens } from '../../runtime/passes/wallets/render/pass-tokens.ts'
import { readWalk } from '../../runtime/passes/wallets/sync/google/queries.ts'
import type { Environment } from '../../runtime/platform/environment.ts'
import { issuePass, makeTemplate } from '../api/fixtures.ts'
import type { Send, TestService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import type { Recorder } from './recorder.ts'

/** Messages to one holder and to many, who then turns them off; a batch that is canceled. */
export async function walkMessagesOf(
  { service, recorder }: { readonly service: TestService; readonly recorder: Recorder },
  environment: Environment,
  send: Send,
  space: string,
): Promise<void> {
  const text = { header: 'Doors', body: 'Open at 18:30.' }
  const template_id = await makeTemplate(send)
  const pass = await issuePass(send, template_id)
  const message = await send(`/v1/passes/${pass.id}/messages`, { body: text })
  const batch = await send('/v1/pass_message_batches', {
    body: { ...text, filter: { template_id, status: 'issued' } },
  })
  expect([message.status, batch.status]).toEqual([201, 201])
  const parts = {
    ...service,
    database: recorder.database,
    wakeUpChannel: { publish: () => {} },
    log: strictLog,
  }
  await passMessageBatchWorker(parts).runOnce()
  await passMessageWorker(parts).runOnce()
  expect((await send(`/v1/pass_messages/${message.body.id}`)).body.status).toBe('skipped')
  expect((await send(`/v1/pass_message_batches/${batch.body.id}`)).body.status).toBe('completed')
  const barcode_message = openPassTokens(service.database.pepper)[environment].scanCode({
    space,
    passId: pass.id,
  })
  const scan = await send('/v1/scans', { body: { barcode_message, mode: 'verify' } })
  expect(scan.body.result).toBe('accepted')
  const { body } = await send('/v1/pass_message_batches', { body: { ...text, filter: {} } })
  const canceled = await send(`/v1/pass_message_batches/${body.id}/cancel`, { method: 'POST' })
  expect(canceled.status).toBe(200)
  const turnOff = {
    method: 'POST',
    body: new URLSearchParams({ messages: 'off' }),
    redirect: 'manual',
  } as const
  expect((await fetch(`${pass.download.page_url}/messages`, turnOff)).status).toBe(303)
  const db = recorder.database[environment]
  await readWalk(db, space, { messages: 'new' }, 1)
  await writeSentToGoogle(db, space, message.body.id)
}
