/** A follower that is killed at any moment loses nothing, and another goes on where it was. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { makeTemplate } from '../../api/fixtures.ts'
import { endPrograms, type Program, startProgram, until } from '../../support/programs.ts'
import { type GoogleStage, ISSUER_ID, openGoogleStage } from './google-stage.ts'

let stage: GoogleStage
beforeAll(async () => {
  stage = await openGoogleStage()
})
afterAll(() => stage.close())
afterEach(endPrograms)

async function startFollower(): Promise<Program> {
  const { service, google, signer } = stage
  const key = signer.key.export({ type: 'pkcs8', format: 'pem' })
  const { wallet, token } = google.urls
  const program = startProgram(process.execPath, ['test/passes/sync/google-program.ts'], {
    DATABASE_URL: service.database.url,
    SVC_PEPPER: service.database.pepper,
    SERVICE_NOW: String(service.clock.now),
    GOOGLE: JSON.stringify({
      issuerId: ISSUER_ID,
      email: signer.email,
      key,
      wallet,
      token,
      baseUrl: service.urls.sandbox,
    }),
  })
  await program.ready()
  return program
}

test.each([
  ['when Google has taken a class and not answered yet', 'POST', 'loyaltyClass'],
  ['when Google has taken an object and not answered yet', 'POST', 'loyaltyObject'],
  ['when a token was asked for', 'POST', 'token'],
])('a follower that is killed %s loses nothing', { timeout: 60_000 }, async (_, method, last) => {
  const { google } = stage
  const { tenantId, send } = await stage.addTenant()
  const template = await makeTemplate(send)
  const passes = Array.from({ length: 20 }, () => ({ template_id: template }))
  const { body } = await send('/v1/passes/batch', { body: { passes } })
  const ids: string[] = body.results.map(({ pass }: { pass: { id: string } }) => pass.id)

  const reached = Promise.withResolvers<void>()
  google.afterTaken = (taken, path) => {
    if (taken !== method || path.split('/').at(-1) !== last) return undefined
    reached.resolve()
    return 'hang'
  }
  const first = await startFollower()
  await reached.promise
  await first.end('SIGKILL')
  google.afterTaken = () => undefined
  expect((await stage.cursor(tenantId))?.token).not.toBeNull()

  await startFollower()
  for (const id of ids) await until(`${id} at Google`, () => stage.at('loyalty', id))
  await until('the end', async () => (await stage.cursor(tenantId))?.sequence === 21)
  expect(stage.at('loyalty', template)).toBeDefined()
})
