/** A request that a person confirms, from end to end: the service as it is started, its console and its first owner. */
import { randomUUID } from 'node:crypto'
import { TOTP } from 'otpauth'
import { afterEach, expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { endPrograms, startService } from '../support/programs.ts'
import { openForm } from './confirmers.ts'

afterEach(endPrograms)

interface Ready {
  readonly sandbox_base_url: string
  readonly console_url: string
  readonly keys: { readonly sandbox_secret: string }
  readonly dashboard: { readonly email: string; readonly password: string; readonly totp_secret: string }
}

test('the first owner confirms the rotation of all keys', async () => {
  const database = await createTestDatabase()
  const service = startService({ DATABASE_URL: database.url, SVC_PEPPER: database.pepper }, [
    '--json',
    '--demo',
  ])
  try {
    const ready = (await service.ready()) as unknown as Ready
    const send = async (secret: string, factor?: string) => {
      const response = await fetch(`${ready.sandbox_base_url}/v1/account/rotate_credentials`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${secret}`,
          'Idempotency-Key': randomUUID(),
          ...(factor && { 'Service-Factor': factor }),
        },
      })
      // biome-ignore lint/suspicious/noExplicitAny: tests assert what it is
      const body: any = await response.json()
      return { status: response.status, body }
    }
    const refused = await send(ready.keys.sandbox_secret)
    const url: string = refused.body.error.challenge_url
    expect([refused.status, url.startsWith(`${ready.console_url}/challenges/`)]).toEqual([403, true])
    const { email, password, totp_secret: secret } = ready.dashboard
    const form = await openForm(url)
    const { factor } = await form.send({ email, password, code: new TOTP({ secret }).generate() })
    const rotated = await send(ready.keys.sandbox_secret, factor)
    expect([rotated.status, rotated.body.keys.length]).toEqual([200, 1])
    expect((await send(rotated.body.keys[0].secret, factor)).status).toBe(403)
    const { stderr } = await service.end()
    for (const text of [factor!, url.split('/').at(-1)!, password, rotated.body.keys[0].secret]) {
      expect(stderr).not.toContain(text)
    }
  } finally {
    await service.end('SIGKILL')
    await database.drop()
  }
})
