/** The log of a process: enough to find a request by, and no secret, whoever wrote the line. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog, redact } from '../../runtime/platform/log.ts'
import { makeKey as makeKeyText } from '../../runtime/tenants/keys/keys.ts'
import { makeKey, makeTenant, speak, startTestService, type TestService } from '../support/service.ts'

const KEY = makeKeyText('secret', 'live')
const CARD = '4000000000000002'
const RANDOM = randomBytes(32).toString('base64url')

describe('a line', () => {
  test.each([
    ['a key', KEY, KEY.slice(20)],
    ['a key in the middle of a word', `/v1/${KEY}/x?${KEY}`, KEY.slice(20)],
    ['a publishable key', makeKeyText('publishable', 'sandbox'), undefined],
    ['a malformed key', `${KEY}xyz`, KEY.slice(20)],
    ['a header', `{"headers":{"authorization":"Bearer ${RANDOM}"}}`, RANDOM],
    ['a header in capitals', `{"Authorization":"Bearer ${RANDOM}"}`, RANDOM],
    ['a header of another scheme', `Authorization: Basic ${RANDOM}`, RANDOM],
    ['a header in a list', `{"authorization":["Bearer ${RANDOM}"]}`, RANDOM],
    ['raw headers', JSON.stringify(['Authorization', `bearer ${RANDOM}`]), RANDOM],
    ['a code of the second factor', '{"service-factor":"123456"}', '123456'],
    ['a token of the second factor', `"factor fct_${RANDOM}"`, RANDOM],
    ['the secret of an endpoint', `whsec_${RANDOM}`, RANDOM],
    ['an address with a password', `postgres://svc:${RANDOM}@db.example:5432/x`, RANDOM],
    ['an address with a password only', `redis://:${RANDOM}@cache`, RANDOM],
    ['a password', `{"password":"${RANDOM}"}`, RANDOM],
    ['a password in a query', `GET https://db.example/x?user=a&password=${RANDOM}&b=1`, RANDOM],
    ['a token in a query', `{"url":"/x?access_token=${RANDOM}"}`, RANDOM],
    ['a pepper', `{"pepper":"a\\"${RANDOM}"}`, RANDOM],
    ['a cookie', `{"cookie":"session=${RANDOM}"}`, RANDOM],
  ])('a log line is redacted of %s', (_, line, secret = line.slice(22)) => {
    const shown = redact(line)
    expect(line).toContain(secret)
    expect(shown).not.toContain(secret)
    expect(shown).toContain('…')
  })

  test.each([
    '{"requestId":"req_01m7y4jrbne4hvdx4gkz54jvh5","ms":1.2}',
    '{"msg":"a bearer of news, basic as it is"}',
  ])('a log line without secrets stays readable: %s', (line) => {
    expect(() => JSON.parse(redact(line))).not.toThrow()
  })

  // Quadratic work on a line of this size takes minutes: more than the time limit of a test.
  test('the time to redact a log line grows in proportion to its length', () => {
    for (const atom of [
      'a',
      'bearer ',
      'a://b:',
      '"authorization":"\\',
      'svc_sk_live_',
      ' ',
      '"password":',
      '4000 ',
    ]) {
      expect(redact(atom.repeat(500_000 / atom.length)), atom).not.toBe('')
    }
  })

  test('a redacted log line stays JSON', () => {
    let written = ''
    const keep = (line: string) => {
      written += line
    }
    const log = createLog({ logLevel: 'info' }, { write: keep })
    log.warn(
      {
        headers: { authorization: `Bearer ${KEY}` },
        err: new Error(`refused: ${KEY}`),
        deep: [{ key: KEY }],
        card: { number: Number(CARD), body: `{"number":${CARD}}`, text: CARD },
      },
      KEY,
    )
    expect(written).not.toContain(KEY.slice(20))
    expect(written).not.toContain(CARD)
    const card = { number: '[redacted]', body: '{"number":[redacted]}', text: '[redacted]' }
    expect(JSON.parse(written)).toMatchObject({ level: 40, card, msg: `${KEY.slice(0, 12)}…` })
  })
})

describe('over HTTP', () => {
  let service: TestService
  let written = ''
  const keep = (line: string) => {
    written += line
  }
  const lines = () =>
    written
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  const start = async (requestLog: string) => {
    written = ''
    service = await startTestService({
      watched: true,
      env: { SVC_REQUEST_LOG: requestLog },
      log: createLog({ logLevel: 'trace' }, { write: keep }),
    })
  }

  describe('with all answers logged', () => {
    beforeAll(() => start('all'))
    afterAll(() => service.stop())

    test('keys are never in the log, whatever is done with them; each answer can be found by its id', async () => {
      const tenantId = await makeTenant(service)
      const { secret, id } = await makeKey(service, tenantId, { scope: 'admin' })
      const publishable = await makeKey(service, tenantId, { kind: 'publishable' })
      const live = await makeKey(service, tenantId, { environment: 'live' })
      const send = speak(service.urls.sandbox, { secret })
      const answers = [
        await send('/v1/me'),
        await send(`/v1/passes/${secret}`),
        await send(`/v1/${secret}?key=${secret}`),
        await send(`/v1/passes?${secret}=1`),
        await send('/v1/passes', { body: { template_id: secret, metadata: { key: secret } } }),
        await send('/v1/passes', { headers: { 'Service-Version': secret } }),
        await send('/v1/passes', { method: 'POST', raw: secret, headers: { 'Content-Type': secret } }),
        await send('/v1/account/rotate_credentials', {
          method: 'POST',
          headers: { 'Service-Factor': '123456' },
        }),
        await send('/v1/account/rotate_credentials', {
          method: 'POST',
          headers: { 'Service-Factor': `fct_${RANDOM}` },
        }),
        await speak(service.urls.sandbox, { secret: publishable.secret })('/v1/me'),
        await speak(service.urls.sandbox, { secret: live.secret })('/v1/me'),
        await speak(service.urls.sandbox, { secret: `${secret.slice(0, -1)}x` })('/v1/me'),
        await speak(service.urls.sandbox, {})('/v1/me', { headers: { Authorization: `Basic ${RANDOM}` } }),
      ]
      await service.database.control.query({ text: 'ALTER TABLE sandbox.passes RENAME TO passes_gone' })
      answers.push(await send('/v1/passes'), await send(`/v1/passes?starting_after=${RANDOM}`))
      await service.database.control.query({ text: 'ALTER TABLE sandbox.passes_gone RENAME TO passes' })
      expect(answers.map(({ status }) => status)).toContain(500)

      for (const text of [secret, publishable.secret, live.secret]) {
        expect(written).not.toContain(text.slice(21))
      }
      expect(written).not.toContain(RANDOM)
      expect(written).not.toMatch(/authorization|123456/i)
      const answered = lines().filter(({ msg }) => msg === 'request answered')
      for (const { status, headers } of answers) {
        const found = answered.filter(({ requestId }) => requestId === headers.get('Request-Id'))
        expect(found).toMatchObject([{ status }])
      }
      expect(answered[0]).toMatchObject({
        level: 30,
        method: 'GET',
        path: '/v1/me',
        operation: 'getMe',
        version: '2026-05-19',
        status: 200,
        tenantId,
        keyId: id,
        address: '127.0.0.1',
        ms: expect.any(Number),
      })
    })

    test('a fault of ours stands there whole, under the id that the caller was told', async () => {
      const { secret } = await makeKey(service, await makeTenant(service))
      const send = speak(service.urls.sandbox, { secret })
      await service.database.control.query({ text: 'ALTER TABLE sandbox.passes RENAME TO passes_gone' })
      const { body } = await send('/v1/passes')
      await service.database.control.query({ text: 'ALTER TABLE sandbox.passes_gone RENAME TO passes' })
      const fault = lines().find(
        ({ requestId, level }) => level === 50 && requestId === body.error.request_id,
      )
      expect(fault).toMatchObject({
        msg: 'request failed',
        err: { code: '42P01', stack: expect.stringContaining('at ') },
      })
    })
  })

  describe.each([
    ['failed', [401, 404]],
    ['off', []],
  ] as const)('with %s answers logged', (requestLog, want) => {
    beforeAll(() => start(requestLog))
    afterAll(() => service.stop())

    test('the log has only the answers that the setting selects', async () => {
      const { secret } = await makeKey(service, await makeTenant(service))
      await speak(service.urls.sandbox, {})('/v1/me')
      await speak(service.urls.sandbox, { secret })('/v1/me')
      await speak(service.urls.sandbox, { secret })('/v1/nothing')
      expect(lines().flatMap(({ msg, status }) => (msg === 'request answered' ? [status] : []))).toEqual(want)
    })
  })
})
