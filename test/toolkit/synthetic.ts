/** Made-up documents of any size, the same for the same wishes, built like those of large public APIs. */

export interface Wishes {
  readonly resources: number
  /** The how many-th version: each adds a little to some resources. */
  readonly version: number
  /** Sentences in each description, for weight. */
  readonly words?: number
}

type Json = Record<string, unknown>

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const named = (index: number) =>
  ['account', 'charge', 'invoice', 'transfer', 'dispute', 'plan'][index % 6] +
  (index < 6 ? '' : `_${Math.floor(index / 6)}`)

/** @returns an OpenAPI 3.0 document: form bodies, expandable references, inheritance, recursion, deep parameters. */
export function makeDocument({ resources, version, words = 3 }: Wishes): Json {
  const paths: Json = {}
  const schemas: Json = {
    error: {
      type: 'object',
      required: ['error'],
      properties: {
        error: {
          type: 'object',
          required: ['type'],
          properties: {
            type: { type: 'string', enum: ['api_error', 'card_error'] },
            message: { type: 'string', maxLength: 5000 },
          },
        },
      },
    },
    deleted: {
      type: 'object',
      required: ['id', 'deleted'],
      properties: { id: { type: 'string' }, deleted: { type: 'boolean', enum: [true] } },
    },
    'money.amount': {
      type: 'object',
      required: ['value', 'currency'],
      properties: {
        value: { type: 'integer', format: 'int64' },
        currency: { type: 'string', minLength: 3, maxLength: 3 },
      },
    },
  }
  for (let index = 0; index < resources; index++)
    addResource(index, version, words, paths, schemas, resources)
  return {
    openapi: '3.0.0',
    info: {
      title: 'Synthetic',
      version: versionName(version),
      license: { name: 'MIT', url: 'https://example.org/mit' },
    },
    servers: [{ url: 'https://api.synthetic.test' }],
    security: [{ bearer: [] }],
    paths,
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } }, schemas },
  }
}

/** Days count from 2020-01-01. */
export function versionName(version: number): string {
  return new Date(Date.UTC(2020, 0, 1 + version)).toISOString().slice(0, 10)
}

const prose = (about: string, words: number) =>
  Array.from(
    { length: words },
    (_, index) => `What ${about} is good for, sentence ${index + 1}: it says what it says.`,
  ).join(' ')

function addResource(
  index: number,
  version: number,
  words: number,
  paths: Json,
  schemas: Json,
  all: number,
): void {
  const name = named(index)
  const other = named((index * 7 + 3) % all)
  const added = version > 0 && index % 11 === version % 11
  schemas[name] = {
    type: 'object',
    description: prose(name, words),
    required: ['id', 'object', 'created'],
    'x-expandableFields': ['parent'],
    properties: {
      id: { type: 'string', maxLength: 5000, description: prose('the id', words) },
      object: { type: 'string', enum: [name] },
      created: { type: 'integer', format: 'unix-time', description: prose('the time', words) },
      amount: ref('money.amount'),
      livemode: { type: 'boolean' },
      parent: {
        anyOf: [{ type: 'string', maxLength: 5000 }, ref(other)],
        nullable: true,
        description: prose('the parent', words),
      },
      metadata: {
        type: 'object',
        additionalProperties: { type: 'string', maxLength: 500 },
        description: prose('metadata', words),
      },
      status: { type: 'string', enum: ['active', 'closed', 'pending'], nullable: true },
      details: { oneOf: [ref(`${name}_card`), ref(`${name}_bank`)], discriminator: { propertyName: 'type' } },
      items: {
        type: 'object',
        required: ['data', 'has_more'],
        properties: { data: { type: 'array', items: ref(name) }, has_more: { type: 'boolean' } },
      },
      ...Object.fromEntries(
        Array.from({ length: index % 9 }, (_, n) => [
          `field_${n}`,
          { type: 'string', description: prose(`field ${n}`, words) },
        ]),
      ),
      ...(added && { [`since_${version}`]: { type: 'string' } }),
    },
  }
  schemas[`${name}_base`] = {
    type: 'object',
    required: ['type'],
    properties: { type: { type: 'string' }, note: { type: 'string' } },
  }
  schemas[`${name}_card`] = {
    allOf: [
      ref(`${name}_base`),
      {
        type: 'object',
        required: ['last4'],
        properties: { last4: { type: 'string', pattern: '^[0-9]{4}$' } },
      },
    ],
  }
  schemas[`${name}_bank`] = {
    allOf: [ref(`${name}_base`), { type: 'object', properties: { iban: { type: 'string', maxLength: 34 } } }],
  }
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string', maxLength: 5000 } }
  const answer = (schema: Json) => ({
    '200': { description: 'Fine.', content: { 'application/json': { schema } } },
    default: { description: 'Refused.', content: { 'application/json': { schema: ref('error') } } },
  })
  const form = (properties: Json) => ({
    content: {
      'application/x-www-form-urlencoded': {
        schema: { type: 'object', properties },
        encoding: { metadata: { style: 'deepObject', explode: true } },
      },
    },
  })
  const fields = {
    metadata: { type: 'object', additionalProperties: { type: 'string' } },
    expand: { type: 'array', items: { type: 'string', maxLength: 5000 } },
    amount: { type: 'integer' },
  }
  const page = {
    type: 'object',
    required: ['data'],
    properties: {
      data: { type: 'array', items: ref(name) },
      has_more: { type: 'boolean' },
      url: { type: 'string', pattern: `^/v1/${name}s` },
    },
  }
  paths[`/v1/${name}s`] = {
    get: {
      operationId: `Get${name}s`,
      description: prose(`the list of ${name}s`, words),
      parameters: [
        {
          name: 'created',
          in: 'query',
          style: 'deepObject',
          explode: true,
          schema: {
            anyOf: [
              { type: 'object', properties: { gt: { type: 'integer' }, lt: { type: 'integer' } } },
              { type: 'integer' },
            ],
          },
        },
        {
          name: 'expand',
          in: 'query',
          style: 'deepObject',
          explode: true,
          schema: { type: 'array', items: { type: 'string', maxLength: 5000 } },
        },
        { name: 'limit', in: 'query', schema: { type: 'integer' } },
      ],
      responses: answer(page),
    },
    post: {
      operationId: `Post${name}s`,
      description: prose(`making a ${name}`, words),
      requestBody: form(fields),
      responses: answer(ref(name)),
    },
  }
  paths[`/v1/${name}s/{id}`] = {
    parameters: [id],
    get: { operationId: `Get${name}`, description: prose(name, words), responses: answer(ref(name)) },
    delete: { operationId: `Delete${name}`, responses: answer(ref('deleted')) },
    // Without an id: called by method and path.
    put: {
      description: prose(`a file of ${name}`, words),
      requestBody: {
        content: {
          'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
          'application/json': { schema: ref(name) },
        },
      },
      responses: answer(ref(name)),
    },
  }
}
