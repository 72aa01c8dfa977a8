/** Each operation is sent the credentials that it asks for: OpenAPI 3.1, "Security Requirement Object". */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GeneratedClient, generateClient } from './generated-from.ts'
import { serve } from './scripted.ts'

const SECURITY: Readonly<Record<string, readonly object[] | undefined>> = {
  usual: undefined,
  free: [],
  optional: [{}, { bearer: [] }],
  basic: [{ basic: [] }],
  inHeader: [{ inHeader: [] }],
  inQuery: [{ inQuery: [] }],
  inCookie: [{ inCookie: [] }],
  tokens: [{ oauth: ['read'] }],
  both: [{ inHeader: [], basic: [] }],
  either: [{ basic: [] }, { inQuery: [] }],
  certified: [{ mutual: [], inHeader: [] }],
  digest: [{ digest: [] }],
  digestOrKey: [{ digest: [] }, { inHeader: [] }],
}

let made: GeneratedClient
beforeAll(async () => {
  const operation = ([operationId, security]: [string, readonly object[] | undefined]) => [
    `/${operationId}`,
    {
      get: {
        operationId,
        parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer' } }],
        ...(security && { security }),
        responses: {
          200: { description: 'OK', content: { 'application/json': { schema: { type: 'object' } } } },
        },
      },
    },
  ]
  made = await generateClient({
    openapi: '3.1.0',
    info: { title: 'Security', version: '2030-01-01' },
    security: [{ bearer: [] }],
    paths: Object.fromEntries(Object.entries(SECURITY).map(operation)),
    components: {
      securitySchemes: {
        basic: { type: 'http', scheme: 'Basic' },
        bearer: { type: 'http', scheme: 'bearer' },
        inHeader: { type: 'apiKey', in: 'header', name: 'X-Key' },
        inQuery: { type: 'apiKey', in: 'query', name: 'key' },
        inCookie: { type: 'apiKey', in: 'cookie', name: 'session' },
        oauth: {
          type: 'oauth2',
          flows: { clientCredentials: { tokenUrl: 'https://a.example', scopes: { read: '' } } },
        },
        mutual: { type: 'mutualTLS' },
        digest: { type: 'http', scheme: 'digest' },
      },
    },
  })
}, 60_000)
afterAll(() => made.remove())

const USER = { username: 'ada', password: 'pä:ss' }
const BASIC = `Basic ${Buffer.from('ada:pä:ss').toString('base64')}`

interface Sent {
  readonly url?: string
  readonly authorization?: string
  readonly key?: string
  readonly cookie?: string
}

const ROWS: readonly (readonly [id: string, settings: object, want: Sent])[] = [
  ['usual', { apiKey: 'k' }, { authorization: 'Bearer k' }],
  ['usual', {}, {}],
  ['usual', { apiKey: 'k', credentials: { bearer: async () => 't' } }, { authorization: 'Bearer t' }],
  ['free', { apiKey: 'k', credentials: { basic: USER } }, {}],
  ['optional', { apiKey: 'k' }, { authorization: 'Bearer k' }],
  ['optional', {}, {}],
  ['basic', { credentials: { basic: USER } }, { authorization: BASIC }],
  ['basic', { credentials: { basic: () => USER } }, { authorization: BASIC }],
  ['basic', { apiKey: 'k' }, {}],
  ['inHeader', { apiKey: 'k' }, { key: 'k' }],
  ['inQuery', { apiKey: 'k&1' }, { url: '?limit=1&key=k%261' }],
  ['inCookie', { apiKey: 'k;1' }, { cookie: 'session=k%3B1' }],
  ['tokens', { apiKey: 'k' }, { authorization: 'Bearer k' }],
  ['both', { credentials: { inHeader: 'h', basic: USER } }, { authorization: BASIC, key: 'h' }],
  ['both', { apiKey: 'k', credentials: { basic: USER } }, {}],
  ['either', { credentials: { inQuery: 'q' } }, { url: '?limit=1&key=q' }],
  ['either', { credentials: { inQuery: 'q', basic: USER } }, { authorization: BASIC }],
  ['certified', { apiKey: 'k' }, { key: 'k' }],
  ['digest', { apiKey: 'k' }, {}],
  ['digestOrKey', { apiKey: 'k' }, { key: 'k' }],
]

test.each(ROWS)('the client calls %s with credentials %j as %j', async (id, settings, want) => {
  const server = await serve({ status: 200, body: {} })
  await made.createClient({ baseUrl: server.baseUrl, credentials: {}, ...settings })[id]!({
    query: { limit: 1 },
  })
  const { url, headers } = server.received[0]!
  const { authorization, 'x-key': key, cookie } = headers
  const sent = { url: url.slice(`/${id}`.length), authorization, key, cookie }
  expect(sent).toEqual({
    url: '?limit=1',
    ...{ authorization: undefined, key: undefined, cookie: undefined },
    ...want,
  })
})

test('a credential that the client or a browser cannot send is found where it stands', () => {
  const found = made.findings.filter(({ code }) => code === 'client-security' || code === 'client-cookie')
  expect(found.map(({ code, severity, place }) => [code, severity, place?.pointer])).toEqual([
    ['client-security', 'warning', '/paths/~1digest/get'],
    ['client-cookie', 'warning', '/paths/~1inCookie/get'],
  ])
})

test('the types take users and keys', () => {
  const program = `
import { createClient } from './client/src/2030-01-01/index.ts'
createClient({ baseUrl: '', credentials: { basic: { username: 'a', password: 'b' }, bearer: async () => 't' } })
createClient({ baseUrl: '', credentials: { basic: { username: 'a' } } }) // wrong
`
  const wrong = made.compile(program).map((each) => each.slice(0, each.indexOf('// wrong') + 8))
  expect(wrong).toEqual(program.split('\n').filter((line) => line.endsWith('// wrong')))
})
