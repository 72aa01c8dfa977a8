/** Stages that no operation of the documents reaches yet, on operations made by hand. */

import { createServer, type Server } from 'node:http'
import type { Parameter } from 'dateline/runtime'
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import type { OperationExtensions } from '../../../generated/extensions.ts'
import { createAccountChanges } from '../../../runtime/account/account/changes.ts'
import { ApiError, describeItemError, validationFailed } from '../../../runtime/api/errors/errors.ts'
import type { ApiService, Traffic } from '../../../runtime/api/exchange.ts'
import type { Context } from '../../../runtime/api/handler.ts'
import { runPipeline } from '../../../runtime/api/pipeline.ts'
import { createVersions, type Handlers } from '../../../runtime/api/routing.ts'
import type { ServiceOperation } from '../../../runtime/api/version-table.ts'
import { createCardEncryption } from '../../../runtime/cards/provisioning/encryption/encryption.ts'
import type { Database } from '../../../runtime/database/database.ts'
import { DatabaseUnavailable } from '../../../runtime/database/errors.ts'
import type { Pool, Transactions } from '../../../runtime/database/pool/pool.ts'
import { createEndpointSecrets } from '../../../runtime/events/webhook-endpoints/secrets.ts'
import { createPassTokens } from '../../../runtime/passes/wallets/render/pass-tokens.ts'
import type { Environment } from '../../../runtime/platform/environment.ts'
import { createPresence } from '../../../runtime/platform/fairness/presence.ts'
import { createTurns } from '../../../runtime/platform/fairness/turns.ts'
import { parseNetworks } from '../../../runtime/platform/networks.ts'
import { createSeals } from '../../../runtime/platform/secrets.ts'
import { createReportLinks } from '../../../runtime/tenants/addresses/report-links.ts'
import type { Factors } from '../../../runtime/tenants/factors/factors.ts'
import type { KnownCredential } from '../../../runtime/tenants/keys/credential-queries.ts'
import { createLimiter } from '../../../runtime/tenants/limits/limiter.ts'
import type { UsageMeter } from '../../../runtime/tenants/usage/meter.ts'

const VERSION = { name: '2026-05-19', status: 'current' } as const

const CREDENTIAL: KnownCredential = {
  tenant: { id: 'ten_1', name: 'Harbour Coffee', plan: 'standard', created: 0 },
  space: 'ten_1',
  verified: false,
  environment: 'live',
  actor: 'key',
  key: { id: 'key_1', kind: 'secret', scope: 'admin' },
  role: 'owner',
  allowedIps: [],
  retiredAt: null,
  revokedAt: null,
  pin: null,
  lifts: [],
}

type Given = Partial<Omit<ServiceOperation, 'extensions'>> & {
  readonly extensions?: Partial<OperationExtensions>
}

function operation(given: Given = {}): ServiceOperation {
  const audited = given.method === undefined ? {} : { auditAction: 'thing.done' }
  return {
    id: 'getThing',
    method: 'GET',
    path: '/v1/things',
    status: 200,
    oauth: [],
    pathParameters: [],
    query: [],
    headers: [],
    ...given,
    extensions: { scope: 'read', rateLimit: 'read', ...audited, ...given.extensions },
  }
}

function parameter(given: Partial<Parameter> & Pick<Parameter, 'name'>): Parameter {
  return { type: 'string', required: false, set: false, validate: () => true, pointer: '', ...given }
}

const NOWHERE: Database = { query: async () => ({ rows: [], count: 0 }) }

const NO_TRANSACTIONS: Transactions = {
  ...NOWHERE,
  flushed: NOWHERE,
  transaction: (work) => work(NOWHERE),
  commitEarly: async (work) => ({ value: await work(NOWHERE), flushed: async () => {} }),
}
const noTrust = () => {
  throw new Error('nobody is trusted')
}
const noKeys = () => Promise.reject(new Error('there are no card keys'))
const NO_VAULT = { propose: noKeys, reveal: noKeys }

const NO_POOL: Pool = {
  ...NO_TRANSACTIONS,
  distributed: false,
  forTenant: () => NO_TRANSACTIONS,
  end: async () => {},
}

const NO_FACTORS: Factors = {
  accept: async () => false,
  challenge: async () => 'token',
  open: async () => undefined,
  complete: async () => ({ outcome: 'over' }),
}

let server: Server | undefined
afterEach(() => {
  server?.close()
})

async function* NO_STREAM(): AsyncGenerator<string> {}

interface Setting {
  readonly operation: ServiceOperation
  readonly handlers?: Handlers
  readonly credential?: Partial<KnownCredential>
  readonly environment?: Environment
  readonly factors?: Partial<Factors>
  readonly sunset?: string
  /** Parts of the service that are replaced. */
  readonly service?: Partial<ApiService>
}

/** Serves the one operation and gives what a call is answered. */
async function ask(setting: Setting, path = '/v1/things', init: RequestInit = {}) {
  const environment = setting.environment ?? 'live'
  const handlers = setting.handlers ?? {
    [setting.operation.id]: async () => ({ status: 200, body: { done: true } }),
  }
  const version = setting.sunset === undefined ? VERSION : { ...VERSION, sunset: setting.sunset }
  const service: ApiService = {
    environment,
    database: NO_POOL,
    sandbox: NO_POOL,
    clock: { machine: Date.now, service: Date.now },
    account: createAccountChanges(NO_POOL, '', environment, { machine: Date.now }),
    seals: createSeals('pepper'),
    vault: NO_VAULT,
    cardEncryption: createCardEncryption(noTrust, '', Date.now),
    factors: { ...NO_FACTORS, ...setting.factors },
    keyring: {
      find: () => ({ ...CREDENTIAL, environment, ...setting.credential }),
      findMember: () => Promise.resolve(undefined),
      forget: () => {},
    },
    limiter: createLimiter(),
    turns: createTurns(createPresence()),
    links: {
      baseUrl: 'http://api',
      wallet: { signGoogleLink: async () => '' },
      passTokens: createPassTokens('pepper', environment),
      reports: createReportLinks('pepper', environment, 'http://api'),
    },
    destinations: {
      check: async () => undefined,
      post: async () => Promise.reject(new Error('nothing is sent')),
    },
    endpointSecrets: createEndpointSecrets(createSeals('pepper'), environment),
    sanctions: {
      list: () => {
        throw new Error('nobody is screened here')
      },
    },
    usdcChain: { id: 'eip155:1', contract: '' },
    licensedStates: new Set<string>(),
    passNfc: false,
    rates: { interchange: 0, networkFee: 0 },
    streams: { open: NO_STREAM },
    openStreams: new Map<string, number>(),
    deliveriesDue: () => {},
    versions: createVersions(
      [{ ...version, operations: [setting.operation] }],
      handlers,
      environment,
      'http://console',
    ),
    cursorKey: 'key',
    proxies: 0,
    bodyMs: 10_000,
    baseUrls: { sandbox: 'http://api', live: 'http://api', console: 'http://console' },
    log: pino({ level: 'silent' }),
    ...setting.service,
  }
  server = createServer((request, response) => runPipeline(request, response, service))
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const headers = { Authorization: 'Bearer any', ...init.headers }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers })
  // biome-ignore lint/suspicious/noExplicitAny: what it is depends on the call, and tests assert it
  const body: any = await response.json()
  return { status: response.status, body, code: body.error?.code, headers: response.headers }
}

test.each([
  ['sandbox', 200],
  ['live', 404],
] as const)('an operation of the sandbox is answered in %s with %i', async (environment, status) => {
  const answer = await ask({ operation: operation({ extensions: { environment: 'sandbox' } }), environment })
  expect(answer.status).toBe(status)
})

test.each([
  ['enterprise', 'standard', 403],
  ['enterprise', 'trial', 403],
  ['enterprise', 'enterprise', 200],
  ['standard', 'trial', 403],
  ['standard', 'enterprise', 200],
] as const)(
  'an operation that needs the plan %s is answered for the plan %s with %i',
  async (plan, own, status) => {
    const credential = { tenant: { ...CREDENTIAL.tenant, plan: own } }
    const answer = await ask({ operation: operation({ extensions: { plan } }), credential })
    expect(answer.status).toBe(status)
    if (status === 403)
      expect(answer.body.error).toMatchObject({ code: 'plan_required', required_plan: plan })
  },
)

/** Marks what it is given, so that answers show which function they went through. */
const marked = (by: string) => (body: object) => ({ ...body, by })

test.each([
  [200, 'success'],
  [202, 'accepted'],
  [203, undefined],
  [201, 'success'],
] as const)('success with status %i is translated as such: %s', async (status, by) => {
  const downs = { '202': marked('accepted'), '203': undefined, default: marked('default') }
  const own = operation({ down: marked('success'), downs })
  const handlers = { [own.id]: async () => ({ status, body: { done: true } }) }
  const answer = await ask({ operation: own, handlers })
  expect([answer.status, answer.body.by]).toEqual([status, by])
})

test.each([
  [{ '403': marked('own'), '4XX': marked('range'), default: marked('default') }, 'own'],
  [{ '4XX': marked('range'), default: marked('default') }, 'range'],
  [{ '5XX': marked('range'), default: marked('default') }, 'default'],
  [{ '403': undefined, default: marked('default') }, undefined],
  [{ '404': marked('other') }, undefined],
])('an error is translated by the narrowest that speaks for its status: %j, %s', async (downs, by) => {
  const own = operation({ extensions: { plan: 'enterprise' }, down: marked('success'), downs })
  const answer = await ask({
    operation: own,
    credential: { tenant: { ...CREDENTIAL.tenant, plan: 'trial' } },
  })
  expect([answer.status, answer.body.by, answer.code]).toEqual([403, by, 'plan_required'])
})

test.each([
  ['live', false, 403],
  ['live', true, 200],
  ['sandbox', false, 200],
] as const)(
  'an operation that needs verification is answered in %s, verified %s, with %i',
  async (environment, verified, status) => {
    const setting = {
      operation: operation({ extensions: { verified: true } }),
      environment,
      credential: { verified },
    }
    const answer = await ask(setting)
    expect([answer.status, answer.code]).toEqual([
      status,
      status === 403 ? 'business_verification_required' : undefined,
    ])
  },
)

test.each([
  ['any', 'read', 200],
  ['read', 'read', 200],
  ['write', 'read', 403],
  ['admin', 'write', 403],
  ['admin', 'admin', 200],
  ['read', 'admin', 200],
] as const)(
  'an operation of the scope %s is answered for a key of %s with %i',
  async (scope, own, status) => {
    const credential = { key: { ...CREDENTIAL.key, scope: own } }
    const answer = await ask({ operation: operation({ extensions: { scope } }), credential })
    expect(answer.status).toBe(status)
    if (status === 403) expect(answer.body.error.required_scope).toBe(scope)
  },
)

test('an operation without a handler is answered with 501, after everything else is checked', async () => {
  const setting = {
    operation: operation({ query: [parameter({ name: 'a', required: true })] }),
    handlers: {},
  }
  expect((await ask(setting)).code).toBe('missing_field')
  const answer = await ask(setting, '/v1/things?a=1')
  expect([answer.status, answer.body.error.type, answer.code]).toEqual([501, 'api_error', 'not_implemented'])
})

test('an operation that needs a second factor waits for one that is good for the request', async () => {
  const seen: unknown[] = []
  const setting: Setting = {
    operation: operation({ extensions: { factor: true } }),
    factors: {
      accept: async (sent, { tenantId, keyId, operation: id }) => {
        seen.push([sent, tenantId, keyId, id])
        return sent === '123456'
      },
    },
  }
  const send = (sent?: string) =>
    ask(setting, '/v1/things', sent === undefined ? {} : { headers: { 'Service-Factor': sent } })
  for (const sent of [undefined, '123457', 'x']) {
    const { status, body } = await send(sent)
    expect([status, body.error.code, body.error.challenge_url]).toEqual([
      403,
      'factor_required',
      'http://console/challenges/token',
    ])
  }
  expect((await send('123456')).status).toBe(200)
  expect(seen).toEqual(['123457', 'x', '123456'].map((sent) => [sent, 'ten_1', 'key_1', 'getThing']))
})

test.each([
  ['number', '1.5', 1.5],
  ['number', '-0.25', -0.25],
  ['number', '1e3', undefined],
  ['number', '.5', undefined],
  ['number', 'Infinity', undefined],
  ['integer', '-7', -7],
  ['boolean', 'true', true],
  ['boolean', 'yes', undefined],
  ['string', 'a+b%20%E2%82%AC', 'a b €'],
] as const)('a parameter of type %s reads or refuses the text %s', async (type, text, want) => {
  const handlers: Handlers = {
    getThing: async (_context, input: { query: object }) => ({ status: 200, body: input.query }),
  }
  const answer = await ask(
    { operation: operation({ query: [parameter({ name: 'a', type })] }), handlers },
    `/v1/things?a=${text}`,
  )
  if (want === undefined) expect([answer.status, answer.code]).toEqual([400, 'invalid_format'])
  else expect(answer.body).toEqual({ a: want })
})

test('a set reaches the handler as a list, after its translation; the answer goes back through its own', async () => {
  const handlers: Handlers = {
    getThing: async (_context, input: { query: object }) => ({ status: 200, body: { seen: input.query } }),
  }
  const row = operation({
    query: [parameter({ name: 'label', set: true })],
    upQuery: ({ label }: { label: string[] }) => ({ code: label.map((each) => `${each}!`) }),
    down: (body: object) => ({ ...body, version: 'old' }),
  })
  const answer = await ask({ operation: row, handlers }, '/v1/things?label=a')
  expect(answer.body).toEqual({ seen: { code: ['a!'] }, version: 'old' })
})

test('items of a batch are checked and translated one by one', async () => {
  const handlers: Handlers = {
    getThing: async (_context, input: { items: unknown }) => ({
      status: 200,
      body: { results: input.items },
    }),
  }
  const row = operation({
    method: 'POST',
    body: {
      required: true,
      validate: () => true,
      pointer: '/components/schemas/PassBatchCreate',
      each: {
        property: 'passes',
        validate: (item) => item === 1,
        pointer: '/components/schemas/PassId',
        up: (item) => item + 1,
      },
    },
  })
  const init = { method: 'POST', body: '{"passes":[1,2]}', headers: { 'Content-Type': 'application/json' } }
  expect((await ask({ operation: row, handlers }, '/v1/things', init)).body.results).toEqual([
    { valid: true, value: 2 },
    { valid: false, details: [{ field: '', issue: expect.any(String) }] },
  ])
})

test.each([
  [new Error('SELECT secret FROM vault'), 500, 'internal_error'],
  ['a string', 500, 'internal_error'],
  [undefined, 500, 'internal_error'],
  [new DatabaseUnavailable('at 10.0.0.1'), 503, 'unavailable'],
])('a handler that throws %s is answered with an error in JSON', async (thrown, status, code) => {
  const handlers: Handlers = {
    getThing: async () => {
      throw thrown
    },
  }
  const answer = await ask({ operation: operation(), handlers })
  expect([answer.status, answer.code]).toEqual([status, code])
  expect(JSON.stringify(answer.body)).not.toMatch(/SELECT|10\.0\.0\.1/)
})

test('a refusal by a handler names fields as the caller’s version does', async () => {
  const operationWithNames = operation({ downField: (field) => field.replace('blocked', 'allowed') })
  const refusing = {
    getThing: async () => {
      throw validationFailed([{ field: 'blocked[0]', issue: 'is no category' }])
    },
  }
  const { status, body } = await ask({ operation: operationWithNames, handlers: refusing })
  expect(status).toBe(422)
  expect(body.error).toMatchObject({
    message: 'The request body is not valid: allowed[0] is no category.',
    details: [{ field: 'allowed[0]', issue: 'is no category' }],
  })
})

test('items of a batch are checked too, but for fields that the caller’s own validator named', async () => {
  const details = [{ field: 'blocked[0]', issue: 'is no $& category' }]
  const outcomes = [
    validationFailed(details),
    validationFailed(details, { asSent: true }),
    new ApiError(409, 'conflict', 'invalid_state', 'Not now.', { param: 'blocked' }),
  ]
  const handlers: Handlers = {
    getThing: async () => ({
      status: 200,
      body: {
        results: [
          { index: 0, status: 'succeeded' },
          ...outcomes.map((each) => ({ status: 'failed', error: describeItemError(each, 'req_1') })),
        ],
      },
    }),
  }
  const each = { property: 'passes', validate: () => true, pointer: '' }
  const row = operation({
    method: 'POST',
    body: { required: false, validate: () => true, pointer: '', each },
    downField: (field) => field.replace('blocked', 'allowed'),
  })
  const { body } = await ask({ operation: row, handlers }, '/v1/things', { method: 'POST' })
  const page = (code: string) => `http://console/docs/errors#${code}`
  const invalid = { type: 'invalid_request', code: 'validation_failed', request_id: 'req_1' }
  const worded = (field: string) => ({
    ...invalid,
    message: `The request body is not valid: ${field} is no $& category.`,
    details: [{ field, issue: 'is no $& category' }],
    doc_url: page('validation_failed'),
  })
  expect(body.results.slice(1).map(({ error }: { error: object }) => error)).toEqual([
    worded('allowed[0]'),
    worded('blocked[0]'),
    {
      type: 'conflict',
      code: 'invalid_state',
      message: 'Not now.',
      param: 'allowed',
      request_id: 'req_1',
      doc_url: page('invalid_state'),
    },
  ])
})

test('path, query and headers reach the handler as the canonical version names them', async () => {
  let seen: unknown
  const setting: Setting = {
    operation: operation({
      path: '/v1/things/{number}',
      pathParameters: [
        parameter({ name: 'number', type: 'integer', required: true, validate: (value) => value === 7 }),
      ],
      query: [parameter({ name: 'old' })],
      upPath: ({ number }) => ({ thing_id: `thing_${number}` }),
      upQuery: ({ old }) => ({ page: old }),
      upHeaders: (headers: Record<string, unknown>) => ({
        ...headers,
        'new-key': headers['old-key'],
        'old-key': undefined,
      }),
    }),
    handlers: {
      getThing: async (context, input) => {
        seen = [input, context.request.header('New-Key'), context.request.header('Old-Key')]
        return { status: 200, body: {} }
      },
    },
  }
  const answer = await ask(setting, '/v1/things/7?old=x', { headers: { 'Old-Key': 'k' } })
  expect(answer.status).toBe(200)
  expect(seen).toEqual([{ path: { thing_id: 'thing_7' }, query: { page: 'x' } }, 'k', undefined])
  expect((await ask(setting, '/v1/things/8')).status).toBe(404)
  expect((await ask(setting, '/v1/things/seven')).status).toBe(404)
})

test('a refusal by a handler names its parameter as the caller’s version does', async () => {
  const refused = async (param: string) => {
    const setting: Setting = {
      operation: operation({ parameterNames: { page: 'old' } }),
      handlers: {
        getThing: async () => {
          throw new ApiError(400, 'invalid_parameter', 'out_of_range', `${param} is too large.`, { param })
        },
      },
    }
    const { error } = (await ask(setting)).body
    return [error.param, error.message]
  }
  expect(await refused('page')).toEqual(['old', 'old is too large.'])
  expect(await refused('pages')).toEqual(['pages', 'pages is too large.'])
  expect(await refused('constructor')).toEqual(['constructor', 'constructor is too large.'])
})

test('the caller’s version keeps its statuses, of success and of errors', async () => {
  const downStatus = { 200: 201, 409: 400 }
  expect((await ask({ operation: operation({ downStatus }) })).status).toBe(201)
  const conflict = async () => {
    throw new ApiError(409, 'conflict', 'invalid_state', 'It is over.')
  }
  const setting: Setting = { operation: operation({ downStatus }), handlers: { getThing: conflict } }
  expect((await ask(setting)).status).toBe(400)
  expect((await ask({ ...setting, operation: operation() })).status).toBe(409)
})

test('an answer that cannot be written is a fault of ours', async () => {
  const handlers: Handlers = { getThing: async () => ({ status: 200, body: { big: 1n } }) }
  expect((await ask({ operation: operation(), handlers })).code).toBe('internal_error')
})

test('a bucket that nobody has heard of stops the start', () => {
  const operations = [operation({ extensions: { rateLimit: 'reads' as 'read' } })]
  expect(() => createVersions([{ ...VERSION, operations }], {}, 'live', '')).toThrow(
    'getThing: x-rate-limit names an unknown bucket reads',
  )
})

test('a handler that only reads leaves nothing behind', async () => {
  const attempts: ((context: Context) => unknown)[] = [
    (context) => context.audit.add({ action: 'thing.seen', targetId: 'thing_1' }),
    (context) => context.events.emit({ type: 'thing.seen', data: {} }),
    (context) => context.events.deliverSoon(),
    (context) => context.account.rotateKeys(),
  ]
  for (const attempt of attempts) {
    const getThing = async (context: Context) => {
      await attempt(context)
      return { status: 200, body: {} }
    }
    expect((await ask({ operation: operation(), handlers: { getThing } })).code).toBe('internal_error')
    server?.close()
  }
})

test('an operation that writes without an audit action is not served', () => {
  const silent = {
    ...operation({ method: 'POST' }),
    extensions: { scope: 'write', rateLimit: 'read' } as const,
  }
  expect(() => createVersions([{ ...VERSION, operations: [silent] }], {}, 'live', 'http://console')).toThrow(
    'getThing: x-audit-action is missing',
  )
})

const LIMITER = createLimiter()
const NO_TOKEN = {
  allowed: false,
  resource: 'read',
  limit: 1,
  remaining: 0,
  reset: 0,
  retryAfterMs: 1000,
} as const

/** One fault for each stage, in the order of the stages, with the code and the message that the stage refuses it with. */
const FAULTS = [
  ['overload', 'unavailable', /is overloaded/],
  ['compression', 'unsupported_media_type', /compressed/],
  ['key', 'invalid_api_key', /unknown/],
  ['crowd', 'unavailable', /Too many of your requests/],
  ['address', 'ip_not_allowed', /must not be used from/],
  ['version', 'unknown_version', /no version/],
  ['sunset', 'version_gone', /no longer supported/],
  ['path', 'not_found', /no such operation/],
  ['bucket', 'tenant_limit', /Too many requests/],
  ['scope', 'insufficient_scope', /scope write/],
  ['parameter', 'missing_field', /a is required/],
  ['body', 'malformed_json', /not valid JSON/],
  ['factor', 'factor_required', /second factor/],
  ['handler', 'not_implemented', /not available yet/],
] as const

test.each(
  FAULTS.map(([fault, code, message], at) => ({
    fault,
    code,
    message,
    faults: FAULTS.slice(at).map(([each]) => each),
  })),
)(
  'a request with the fault $fault and one for every later stage gets $code',
  async ({ fault, code, message, faults }) => {
    const has = (each: (typeof FAULTS)[number][0]) => faults.includes(each)
    const passed: string[] = []
    const setting: Setting = {
      operation: operation({
        method: 'POST',
        query: [parameter({ name: 'a', required: true })],
        body: { required: true, pointer: '', validate: () => true },
        extensions: { factor: true, scope: 'write' },
      }),
      ...(has('handler') && { handlers: {} }),
      ...(has('sunset') && { sunset: '2020-01-01T00:00:00Z' }),
      credential: {
        allowedIps: has('address') ? parseNetworks(['192.0.2.0/24']) : [],
        key: { ...CREDENTIAL.key, scope: has('scope') ? 'read' : 'admin' },
      },
      factors: { accept: async () => !has('factor') },
      service: {
        traffic: {
          overload: () => (has('overload') ? 'requests' : undefined),
          crowdedBy: () => has('crowd'),
          enter: () => {},
          leave: () => {},
          answered: () => {},
        } as unknown as Traffic,
        limiter: {
          ...LIMITER,
          acquire: (meter, ...given) =>
            has('bucket') ? { allowance: NO_TOKEN, release: undefined } : LIMITER.acquire(meter, ...given),
        },
        usage: { count: () => void passed.push('counted') } as unknown as UsageMeter,
        turns: { acquire: () => void passed.push('had its turn'), release: () => {} },
        ...(has('key') && {
          keyring: { find: () => undefined, findMember: async () => undefined, forget: () => {} },
        }),
      },
    }
    const path = has('path') ? '/v1/nothings' : '/v1/things'
    const answer = await ask(setting, has('parameter') ? path : `${path}?a=1`, {
      method: 'POST',
      body: has('body') ? '{' : '{}',
      headers: {
        'Content-Type': 'application/json',
        'Service-Factor': '123456',
        ...(has('compression') && { 'Content-Encoding': 'gzip' }),
        ...(has('version') && { 'Service-Version': '2020-01-01' }),
      },
    })
    expect([answer.code, answer.body.error.message]).toEqual([code, expect.stringMatching(message)])
    const counted = ['scope', 'parameter', 'body', 'factor', 'handler'].includes(fault) ? ['counted'] : []
    expect(passed).toEqual(fault === 'handler' ? [...counted, 'had its turn'] : counted)
  },
)
