/** Bodies, parameters and paths that are well-formed and mean harm. */
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { versions } from '../../generated/versions.ts'
import { type Answer, makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'

const service = useService()
let send: Send
let templateId: string

const TEMPLATE = {
  name: 'Coffee',
  kind: 'loyalty',
  brand: { background_color: '#000000', foreground_color: '#ffffff' },
  fields: [],
}

beforeAll(async () => {
  const { secret } = await makeKey(service, await makeTenant(service), { scope: 'admin' })
  send = speak(service.urls.sandbox, { secret })
  templateId = (await send('/v1/pass_templates', { body: TEMPLATE })).body.id
})

const post = (path: string, raw: string) =>
  send(path, { method: 'POST', raw, headers: { 'Content-Type': 'application/json' } })
const refusal = ({ status, body }: Answer) => [status, body.error?.code]
const fields = ({ body }: Answer) => body.error.details.map(({ field }: { field: string }) => field)

describe('an amount of money', () => {
  const authorize = (amount: string) =>
    post(
      '/v1/test/cards/simulate_authorization',
      `{"card_id":"card_${'0'.repeat(26)}","amount":${amount},"merchant":{"name":"Shop","category_code":"5411"}}`,
    )

  test.each([
    ['1.5', 'a fraction'],
    ['1.0', 'a whole number as a fraction'],
    ['100.00', 'the same with two places'],
    ['1e2', 'an exponent'],
    ['1E2', 'a large exponent sign'],
    ['10e-1', 'an exponent that makes it smaller'],
    ['-0.0', 'less than nothing'],
    ['-1', 'negative'],
    ['1000000000000001', 'beyond all range'],
    ['9007199254740993', '2^53 + 1'],
    ['1e400', 'infinite'],
    ['-1e400', 'infinitely little'],
    ['"100"', 'text'],
    ['true', 'a truth'],
    ['null', 'null'],
    ['[100]', 'a list'],
    ['{}', 'an object'],
  ])('an amount of money is refused: %s is %s', async (amount) => {
    const answer = await authorize(amount)
    expect(refusal(answer)).toEqual([422, 'validation_failed'])
    expect(fields(answer)).toEqual(['amount'])
  })

  test.each(['0', '-0', '1', '100', '1000000000000000'])(
    'an amount of money is accepted: %s',
    async (amount) => {
      expect(fields(await authorize(amount))).toEqual(['card_id']) // there is no such card
    },
  )

  test('a number’s spelling does not matter where any number will do; a text that looks like one stays text', async () => {
    for (const latitude of ['52.0', '52', '5.2e1', '-0.0']) {
      const raw = JSON.stringify({
        ...TEMPLATE,
        relevant_locations: [{ latitude: 0, longitude: 13.5, relevant_text: 'a, 1.0' }],
      })
      const answer = await post('/v1/pass_templates', raw.replace('"latitude":0', `"latitude":${latitude}`))
      expect([latitude, answer.status]).toEqual([latitude, 201])
    }
  })
})

describe('names that objects have of themselves', () => {
  test.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'])(
    'the name %s is refused as an unknown property',
    async (name) => {
      for (const value of ['{"polluted":true}', '1', '[]']) {
        const answer = await post('/v1/passes', `{"template_id":"${templateId}","${name}":${value}}`)
        expect(refusal(answer)).toEqual([422, 'validation_failed'])
        expect(fields(answer)).toEqual([name])
      }
      expect(Object.keys(Object.prototype)).toEqual([])
      expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    },
  )

  test.each(['constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    'the name %s is accepted as a name of the caller’s own',
    async (name) => {
      const made = await send('/v1/passes', { body: { template_id: templateId, metadata: { [name]: 'x' } } })
      expect([made.status, made.body.metadata]).toEqual([201, { [name]: 'x' }])
      const changed = await send(`/v1/passes/${made.body.id}`, {
        method: 'PATCH',
        body: { metadata: { [name]: null } },
      })
      expect([changed.status, changed.body.metadata]).toEqual([200, {}])
    },
  )

  test.each(['__proto__', 'constructor', 'created[__proto__]', 'created[constructor]', '__proto__[gte]'])(
    'the name %s is refused as a parameter',
    async (name) => {
      expect(refusal(await send(`/v1/passes?${encodeURIComponent(name)}=1`))).toEqual([
        400,
        'unknown_parameter',
      ])
      expect(({} as Record<string, unknown>).gte).toBeUndefined()
    },
  )
})

describe('parameters', () => {
  test.each([
    ['created[gte][x]=2026-01-01', 'unknown_parameter'],
    ['created[gte]=2026-01-01&created[gte]=2026-01-02', 'repeated_parameter'],
    ['created=2026-01-01', 'unknown_parameter'],
    ['created[]=2026-01-01', 'unknown_parameter'],
    ['status=issued&status=revoked', 'repeated_parameter'],
    ['status[]=issued', 'unknown_parameter'],
    ['status=', 'invalid_format'],
    ['limit=5&limit=5', 'repeated_parameter'],
    ['limit=5&%6cimit=5', 'repeated_parameter'],
    ['limit=1e2', 'invalid_format'],
    ['limit=0x10', 'invalid_format'],
    ['limit=%205%20', 'invalid_format'],
    ['limit=+5', 'invalid_format'],
    ['limit=05', 'invalid_format'],
    ['limit=5.0', 'invalid_format'],
    ['limit=٥', 'invalid_format'],
    ['limit=-0', 'invalid_format'],
    ['limit=', 'invalid_format'],
    ['limit', 'invalid_format'],
    ['limit=0', 'out_of_range'],
    ['limit=101', 'out_of_range'],
    ['limit=99999999999999999999', 'out_of_range'],
    ['order=asc%00', 'invalid_format'],
    ['order=%ff', 'invalid_format'],
    ['order=%', 'invalid_format'],
    ['order=%zz', 'invalid_format'],
    ['include_archived=1', 'invalid_format'],
    ['created[gte]=2026-02-30', 'invalid_format'],
    [`starting_after=${'x'.repeat(5000)}`, 'invalid_cursor'],
  ])('the query %s is refused as %s', async (query, code) => {
    const answer = await send(`/v1/passes?${query}`)
    expect(refusal(answer)).toEqual([400, code])
    expect(answer.text.length).toBeLessThan(1000)
  })

  test('a thousand of them cost no more than the first', async () => {
    const query = Array.from({ length: 1000 }, (_, index) => `x${index}=1`).join('&')
    expect(refusal(await send(`/v1/passes?${query}`))).toEqual([400, 'unknown_parameter'])
  })
})

describe('nesting and length', () => {
  const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

  test.each([
    [31, 422, 'validation_failed'],
    [33, 400, 'malformed_json'],
    [5000, 400, 'malformed_json'],
    [100_000, 400, 'malformed_json'],
  ] as const)('a body nested %i levels deep is refused with %i', async (depth, status, code) => {
    expect(refusal(await post('/v1/passes', nested(depth)))).toEqual([status, code])
  })

  test.each([
    ['/v1/passes/batch', 'passes', 101],
    ['/v1/passes/batch_update', 'updates', 101],
    ['/v1/passes/batch_revoke', 'ids', 1001],
    ['/v1/passes/batch_revoke', 'ids', 200_000],
  ] as const)('%s is refused with %s of length %i', async (path, name, length) => {
    const raw = JSON.stringify({ [name]: Array(length).fill(name === 'ids' ? 'x' : {}) })
    const answer = await post(path, raw)
    expect(refusal(answer)).toEqual([422, 'validation_failed'])
    expect(fields(answer)).toEqual([name])
  })

  test('a list of what does not fit is not told of in full', async () => {
    const raw = JSON.stringify({ ...TEMPLATE, fields: Array(40_000).fill({ key: 'A B', x: 1 }) })
    const answer = await post('/v1/pass_templates', raw)
    expect(refusal(answer)).toEqual([422, 'validation_failed'])
    expect(answer.body.error.details.length).toBeLessThanOrEqual(50)
  })

  test('a name of half a megabyte comes back cut or not at all', async () => {
    const answer = await post('/v1/passes', `{"${'n'.repeat(500_000)}":1}`)
    expect(answer.status).toBe(422)
  })
})

describe('patterns of the documents', () => {
  const patterns = new Set<string>()
  const collect = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    for (const [name, value] of Object.entries(node)) {
      if (name === 'pattern' && typeof value === 'string') patterns.add(value)
      else collect(value)
    }
  }
  for (const { name } of versions) {
    collect(
      JSON.parse(readFileSync(new URL(`../../generated/${name}/openapi.json`, import.meta.url), 'utf8')),
    )
  }
  /** Quadratic work on texts of this length takes minutes: more than the time limit of a test. */
  const SIZE = 250_000
  const ATOMS = [
    '0',
    '9',
    'a',
    'f',
    'A',
    'Z',
    '_',
    '-',
    '+',
    '.',
    '/',
    '=',
    ':',
    ',',
    ' ',
    't=1,v1=',
    '=,',
    'ab',
    'é',
  ]

  test('the documents have more than 20 patterns', () => {
    expect(patterns.size).toBeGreaterThan(20)
  })

  test.each([...patterns])('a pattern of the documents takes linear time: %s', (source) => {
    const pattern = new RegExp(source, 'u')
    // What a pattern begins with, so that the trouble can begin behind it.
    const start = /^\^((?:[\w@+:/-]|\\\+)*)/.exec(source)?.[1]?.replaceAll('\\', '') ?? ''
    for (const atom of ATOMS) {
      for (const end of ['', '!', '\n']) {
        const text = start + atom.repeat(SIZE / atom.length) + end
        expect(pattern.test(text), `${atom} … ${JSON.stringify(end)}`).toBeTypeOf('boolean')
      }
    }
  })
})

describe('what is not there', () => {
  const paths = [...new Set(versions.flatMap(({ operations }) => operations.map(({ path }) => path)))]
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
  const current = versions.at(-1)!

  test.each(paths)('%s: 405 with Allow for what no version can', async (path) => {
    const address = path.replaceAll(/\{[^}]+\}/g, 'x')
    const known = (method: string) =>
      versions.some(({ operations }) =>
        operations.some((each) => each.path === path && each.method === method),
      )
    const here = current.operations.filter((each) => each.path === path).map(({ method }) => method)
    for (const method of methods.filter((each) => !known(each))) {
      const answer = await send(address, { method })
      // A longer name can hide behind a parameter: `/v1/passes/{pass_id}` also is where `/v1/passes/batch` stands.
      if (answer.status === 404) continue
      expect([method, ...refusal(answer)]).toEqual([method, 405, 'method_not_allowed'])
      expect(answer.headers.get('Allow')?.split(', ').toSorted()).toEqual(here.toSorted())
      service.clock.monotonic += 60_000
    }
  })

  test.each([
    '/v1',
    '/v1/',
    '/v1/nothing',
    '/v1/passes/',
    '/V1/passes',
    '/v1//passes',

    '/',
    '/admin',
    '/.env',
    '/%00',
    '/v1/%00',
  ])('the path %s is answered with 404 in our JSON', async (path) => {
    const answer = await send(path)
    expect(refusal(answer)).toEqual([404, 'not_found'])
    expect(answer.headers.get('Content-Type')).toBe('application/json')
    expect(answer.text).not.toMatch(/Cannot GET|<html|\bat .+:\d+/)
  })

  test.each(['HEAD', 'OPTIONS', 'PURGE', 'PROPFIND'])('the method %s is refused', async (method) => {
    const { status } = await send('/v1/passes', { method })
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
  })
})
