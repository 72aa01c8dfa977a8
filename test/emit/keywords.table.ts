/** What each keyword of JSON Schema 2020-12 lets pass and what it refuses, read off the specification's own sections. */

/** Schemas that rows refer to. */
export const COMPONENTS: Readonly<Record<string, unknown>> = {
  Tree: {
    type: 'object',
    properties: { leaf: { $anchor: 'leaf', minimum: 0 }, left: { $ref: '#/components/schemas/Tree' } },
    $defs: {
      odd: { not: { multipleOf: 2 } },
      chain: { properties: { next: { $ref: '#/components/schemas/Tree/$defs/chain' } } },
    },
  },
  Named: { properties: { name: { type: 'string' } }, required: ['name'] },
  Library: {
    $id: 'https://library.example/main',
    $defs: {
      short: { $id: 'short', maxLength: 2 },
      here: { $anchor: 'here', const: 1 },
      inner: { $id: 'inner/', $defs: { deep: { type: 'null' } }, items: { $ref: '#/$defs/deep' } },
    },
    properties: { a: { $ref: 'short' }, b: { $ref: '#here' }, c: { $ref: 'inner/' } },
  },
}

export interface Row {
  readonly schema: unknown
  readonly fits: readonly unknown[]
  readonly fails: readonly unknown[]
  /** Why ajv's verdict on one of the values is another. */
  readonly ajv?: string
}

const row = (schema: unknown, fits: readonly unknown[], fails: readonly unknown[], ajv?: string): Row =>
  ajv === undefined ? { schema, fits, fails } : { schema, fits, fails, ajv }

/** `then` as a member of a literal would make a promise of it. */
const when = (condition: unknown, then: unknown, otherwise?: unknown): Record<string, unknown> => ({
  if: condition,
  ...(then !== undefined && Object.fromEntries([['then', then]])),
  ...(otherwise !== undefined && { else: otherwise }),
})

const NOT_FOLLOWED = 'ajv decides at compile time what has been looked at'
const PROTO = 'ajv reads over this name'
const COMPONENT = '#/components/schemas'

const TYPES: readonly Row[] = [
  row({ type: 'null' }, [null], [0, '', false, [], {}]),
  row({ type: 'boolean' }, [true, false], [0, 'true', null, []]),
  row({ type: 'integer' }, [0, -3, 2.0, 1e21], [1.5, '1', true, null]),
  row({ type: 'number' }, [0, 1.5, -1e-9], ['1', null, true, [1]]),
  row({ type: 'string' }, ['', 'a', '1'], [1, null, ['a']]),
  row({ type: 'array' }, [[], [1]], [{}, 'a', null]),
  row({ type: 'object' }, [{}, { length: 1 }], [[], 'a', null]),
  row({ type: ['string', 'null'] }, ['a', null], [0, false, {}]),
  row({ type: ['integer', 'number'] }, [1, 1.5], ['1', null]),
  row({ type: ['array', 'object'], minItems: 1, minProperties: 1 }, [[1], { a: 1 }], [[], {}, 'a']),
  row({ type: ['string'], minLength: 2 }, ['ab'], ['a', 12]),
  row(true, [null, 1, {}], []),
  row(false, [], [null, 1, {}]),
  row({}, [null, 1, {}], []),
]

const VALUES: readonly Row[] = [
  row({ enum: [1, 'a', null, true] }, [1, 'a', null, true], [0, '1', 'b', false, []]),
  row(
    { enum: [[1, 2], { a: 1, b: [] }] },
    [[1, 2], { b: [], a: 1 }],
    [[2, 1], { a: 1 }, [1, 2, 3], { a: 1, b: {} }],
  ),
  row({ enum: [[false]] }, [[false]], [[0], false, []]),
  row({ enum: ['a', 'bb', 3], minLength: 2 }, ['bb', 3], ['a', 'cc', 4]),
  row({ type: 'string', enum: ['a', 1, null] }, ['a'], [1, null, 'b']),
  row({ type: ['string', 'null'], enum: ['a'] }, ['a'], [null, 'b']),
  row({ type: ['string', 'null'], enum: ['a', null] }, ['a', null], ['b', 0]),
  row({ type: 'integer', enum: [1, 2.5, 3] }, [1, 3], [2.5, 2]),
  row({ enum: ['a', 'b', 'c', 'd', 'e', 'f'] }, ['a', 'f'], ['g', '', 1]),
  row({ enum: ['a', 'b'], anyOf: [{ const: 'a' }, { const: 'c' }] }, ['a'], ['b', 'c']),
  row({ enum: ['a', 'b'], const: 'b' }, ['b'], ['a', 'c']),
  row({ const: null }, [null], [0, false, '']),
  row({ const: 0 }, [0, -0], [false, '', null, 1]),
  row(
    { const: { a: [1, { b: null }] } },
    [{ a: [1, { b: null }] }],
    [{ a: [1, {}] }, { a: [1, { b: 0 }] }, {}],
  ),
  row({ const: [] }, [[]], [{}, [[]], null, '']),
  row({ const: 'é' }, ['é'], ['e\u0301']),
  row({ const: 'ab', pattern: 'c' }, [], ['ab', 'c']),
  row({ const: JSON.parse('{"__proto__": 1}') }, [JSON.parse('{"__proto__": 1}')], [{}, 1]),
]

const NUMBERS: readonly Row[] = [
  row({ multipleOf: 0.01 }, [0.07, 1.1, 4.35, 19.99, 0, 'x'], [0.075, 1.111], 'ajv divides in binary'),
  row({ multipleOf: 3 }, [9, 0, -3, null], [10, 1.5]),
  row({ multipleOf: 1e-8 }, [12391239123, 0.00000003], [1.5e-9], 'ajv divides in binary'),
  row({ type: 'integer', multipleOf: 0.5 }, [1, 2], [1.5, '1']),
  row({ minimum: 1.1 }, [1.1, 2, '0', null, [0]], [1, -5]),
  row({ maximum: 3 }, [3, -3, '4', {}], [3.5, 4]),
  row({ exclusiveMinimum: 0 }, [0.1, 'x'], [0, -1]),
  row({ exclusiveMaximum: 0 }, [-0.1, false], [0, 1]),
  row({ minimum: 1, exclusiveMinimum: 1, maximum: 2 }, [1.5, 2], [1, 2.5]),
  row({ type: 'number', minimum: -2, maximum: -1 }, [-1.5], [0, -3, '-1']),
  row({ minimum: 3, minLength: 2 }, [3, 'ab', null], [2, 'a']),
]

const STRINGS: readonly Row[] = [
  row({ minLength: 2 }, ['ab', '😀😀', 1, null, []], ['a', '😀', '']),
  row({ maxLength: 2 }, ['ab', '😀😀', 123, [1, 2, 3]], ['abc', '😀😀😀']),
  row({ minLength: 1, maxLength: 1 }, ['😀'], ['', 'ab']),
  row({ maxLength: 0 }, ['', {}], ['a']),
  row({ pattern: '^a+$' }, ['a', 'aaa', 5, null], ['', 'ba', 'ab']),
  row({ pattern: 'b' }, ['abc'], ['ac']),
  row({ pattern: '^\\p{L}$' }, ['é', '字'], ['1', 'ab']),
  row({ pattern: '^.$' }, ['😀'], ['😀😀']),
  row({ pattern: '^[\\w-.]+$' }, ['a-b'], ['a b'], 'ajv has no mode for patterns that are none in Unicode'),
  row({ format: 'date' }, ['2030-02-28', 5, null], ['2030-02-30', 'today']),
  row({ type: 'string', format: 'uuid' }, ['0190d5c2-7d3f-7c3a-8b5e-0123456789ab'], ['0190', 1]),
  row({ type: 'string', format: 'nobody-knows' }, ['anything'], [1]),
]

const ARRAYS: readonly Row[] = [
  row({ items: { type: 'integer' } }, [[], [1, 2], { 0: 'a' }, 'a'], [[1, 'a']]),
  row({ items: false }, [[], 1], [[1]]),
  row({ prefixItems: [{ type: 'string' }, true] }, [['a'], [], ['a', 1, 2], {}], [[1], [null, 'a']]),
  row(
    { prefixItems: [{ type: 'string' }], items: { type: 'null' } },
    [['a', null], ['a']],
    [['a', 1], [null]],
  ),
  row({ prefixItems: [true, true], items: false }, [[1], [1, 2]], [[1, 2, 3]]),
  row({ minItems: 1 }, [[1], {}, 'a', ''], [[]]),
  row({ maxItems: 1 }, [[], [1], 'ab', { a: 1, b: 2 }], [[1, 2]]),
  row(
    { uniqueItems: true },
    [[1, true, '1', [1]], [{ a: 1 }, { a: 2 }], 'aa'],
    [
      [1, 1],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [[1], [1]],
    ],
  ),
  row(
    { uniqueItems: true },
    [
      [0, false],
      ['', null],
      [[0], [false]],
    ],
    [
      [null, null],
      [[{}], [{}]],
    ],
  ),
  row({ uniqueItems: false }, [[1, 1]], []),
  row({ contains: { minimum: 5 } }, [[1, 5], [9], 'a', {}], [[], [1, 4]]),
  row(
    { contains: { minimum: 5 }, minContains: 2 },
    [
      [5, 6],
      [5, 1, 7],
    ],
    [[5], [1], []],
  ),
  row({ contains: { minimum: 5 }, minContains: 0 }, [[], [1], [5]], []),
  row({ contains: { minimum: 5 }, maxContains: 1 }, [[5], [1, 5]], [[5, 6], [1]]),
  row({ contains: { const: 1 }, minContains: 0, maxContains: 1 }, [[], [1], [2]], [[1, 1]]),
  row({ minContains: 3, maxContains: 1 }, [[], [1, 2], 'a'], []),
  row({ contains: true }, [[1], [null]], [[]]),
  row({ prefixItems: [true], contains: { const: 1 } }, [[1], [2, 1]], [[], [2]]),
  row({ contains: false }, ['a', 1], [[], [1]]),
  row(
    { type: 'array', items: { type: 'array', items: { type: 'number' }, minItems: 1 } },
    [[[1]], []],
    [[[]], [1], [['a']]],
  ),
]

const OBJECTS: readonly Row[] = [
  row(
    { properties: { a: { type: 'string' } } },
    [{}, { a: 'x' }, { b: 1 }, [], 'a', null],
    [{ a: 1 }, { a: null }],
  ),
  row({ properties: { a: false } }, [{}, { b: 1 }], [{ a: 1 }, { a: null }]),
  row(
    { properties: { constructor: { type: 'number' }, toString: { type: 'string' } } },
    [{}, { constructor: 1 }, []],
    [{ constructor: 'a' }, { toString: 1 }],
  ),
  row(
    { properties: JSON.parse('{"__proto__": {"type": "number"}}') },
    [{}, JSON.parse('{"__proto__": 1}')],
    [JSON.parse('{"__proto__": "a"}')],
    PROTO,
  ),
  row(
    { properties: JSON.parse('{"__proto__": {"type": "number"}}'), not: { required: ['b'] } },
    [{}, JSON.parse('{"__proto__": 1}')],
    [JSON.parse('{"__proto__": "a"}'), { b: 1 }],
    PROTO,
  ),
  row(
    { dependentRequired: JSON.parse('{"__proto__": ["a"]}') },
    [{}, JSON.parse('{"__proto__": 1, "a": 1}')],
    [JSON.parse('{"__proto__": 1}')],
  ),
  row(
    { dependentSchemas: JSON.parse('{"__proto__": {"required": ["a"]}}') },
    [{}, JSON.parse('{"__proto__": 1, "a": 1}')],
    [JSON.parse('{"__proto__": 1}')],
  ),
  row({ required: ['a'] }, [{ a: null }, [], 'a', null, 0], [{}, { b: 1 }]),
  row(
    { required: ['toString', '__proto__'] },
    [JSON.parse('{"toString": 1, "__proto__": 2}'), 1],
    [{}, { toString: 1 }],
  ),
  row({ required: ["a'b\n", 'c"d'] }, [{ "a'b\n": 1, 'c"d': 2 }], [{ "a'b\n": 1 }]),
  row({ required: ['a'], additionalProperties: false }, [[], 1], [{ a: 1 }, {}, { b: 1 }]),
  row(
    { type: 'object', required: ['a', 'b'], properties: { a: true }, additionalProperties: { type: 'null' } },
    [{ a: 1, b: null }],
    [{ a: 1, b: 1 }, { a: 1 }],
  ),
  row(
    { additionalProperties: false, properties: { a: true } },
    [{}, { a: 1 }, []],
    [{ b: 1 }, { a: 1, b: 2 }],
  ),
  row({ additionalProperties: { type: 'integer' } }, [{}, { a: 1 }, 'a'], [{ a: 'x' }]),
  row(
    { patternProperties: { '^n': { type: 'number' }, s$: { type: 'string' } } },
    [{ n: 1, s: 'x', o: null }, []],
    [{ n: 'a' }, { s: 1 }, { ns: 1 }, { ns: 'a' }],
  ),
  row(
    { patternProperties: { '^x-': true }, properties: { a: true }, additionalProperties: false },
    [{ a: 1, 'x-b': 2 }, {}],
    [{ b: 1 }, { x: 1 }],
  ),
  row(
    { properties: { ab: { minimum: 2 } }, patternProperties: { '^a': { maximum: 3 } } },
    [{ ab: 2 }, { ac: 1 }],
    [{ ab: 1 }, { ab: 4 }, { ac: 4 }],
  ),
  row({ patternProperties: { '^a': false } }, [{ b: 1 }], [{ a: 1 }]),
  row({ propertyNames: { maxLength: 2 } }, [{ ab: 1 }, {}, []], [{ abc: 1 }]),
  row({ propertyNames: false }, [{}, 'a'], [{ a: 1 }]),
  row({ propertyNames: { enum: ['a', 'b'] } }, [{ a: 1 }], [{ c: 1 }]),
  row({ minProperties: 1 }, [{ a: 1 }, [], ''], [{}]),
  row({ maxProperties: 1 }, [{}, { a: 1 }, [1, 2]], [{ a: 1, b: 2 }]),
  row(
    { dependentRequired: { a: ['b', 'c'] } },
    [{}, { b: 1 }, { a: 1, b: 2, c: 3 }, [], 'a'],
    [{ a: 1 }, { a: 1, b: 2 }],
  ),
  row({ dependentRequired: { toString: ['b'] } }, [{}, { toString: 1, b: 1 }], [{ toString: 1 }]),
  row(
    { dependentSchemas: { a: { properties: { b: { type: 'integer' } } } } },
    [{ b: 'x' }, { a: 1, b: 2 }, 1],
    [{ a: 1, b: 'x' }],
  ),
  row({ dependentSchemas: { a: false, b: true } }, [{}, { b: 1 }], [{ a: 1 }, { a: 1, b: 2 }]),
  row(
    { type: 'object', properties: { a: { type: 'object', required: ['b'] } }, required: ['a'] },
    [{ a: { b: 1 } }],
    [{ a: {} }, { a: 1 }, {}],
  ),
]

const COMBINED: readonly Row[] = [
  row({ allOf: [{ minimum: 2 }, { maximum: 4 }] }, [3, 'a'], [1, 5]),
  row({ allOf: [true, false] }, [], [1, null]),
  row(
    { allOf: [{ properties: { a: { type: 'string' } } }, { required: ['a'] }] },
    [{ a: 'x' }, 3],
    [{ a: 1 }, {}],
  ),
  row(
    { type: 'object', allOf: [{ required: ['a'] }], properties: { a: { type: 'string' } } },
    [{ a: 'x' }],
    [{}, { a: 1 }, 'a'],
  ),
  row({ anyOf: [{ type: 'integer' }, { minimum: 2 }] }, [1, 2.5, 'a'], [1.5]),
  row({ anyOf: [{ type: 'string', not: { const: 'b' } }, { type: 'null' }] }, ['a', null], ['b', 1]),
  row({ anyOf: [{ type: 'string', maxLength: 1 }, { type: 'null' }] }, ['a', null], ['ab', 1]),
  row({ anyOf: [{ minLength: 2 }, { type: 'integer' }] }, ['ab', 1, 1.5, null], ['a']),
  row({ oneOf: [{ type: 'integer' }, { minimum: 2 }] }, [1, 2.5, 'a'], [3, 1.5]),
  row({ oneOf: [{ type: 'null' }, { type: ['string', 'null'] }] }, ['a'], [null, 1]),
  row({ oneOf: [{ type: 'null' }, { maxLength: 1 }] }, ['a', 1], [null, 'ab']),
  row({ oneOf: [{ type: 'null' }, { $ref: `${COMPONENT}/Named` }] }, [1, { name: 'a' }], [null, {}]),
  row({ oneOf: [{ type: 'null' }, { $ref: `${COMPONENT}/Tree` }] }, [null, {}], [1, 'a']),
  row({ oneOf: [{ type: 'null' }, { type: 'null' }] }, [], [null, 1]),
  row(
    { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    [{ a: 1 }, { b: 1 }],
    [{ a: 1, b: 2 }, {}, 'a', null],
  ),
  row(
    { type: ['object', 'null'], oneOf: [{ required: ['a'] }, { type: 'string' }] },
    [{ a: 1 }, null],
    [{}, 'a'],
  ),
  row({ type: ['object', 'null'], anyOf: [{ type: 'object' }, { type: 'string' }] }, [{}], [null, 'a']),
  row({ type: 'string', nullable: true }, ['a'], [null], 'ajv reads it as 3.0 has it'),
  row({ not: { type: 'integer' } }, ['a', 1.5], [1]),
  row({ not: {} }, [], [1, null]),
  row({ not: false }, [1], []),
  row({ type: 'object', not: { required: ['a', 'b'] } }, [{ a: 1 }, {}], [{ a: 1, b: 2 }, 1]),
  row({ not: { not: { type: 'string' } } }, ['a'], [1]),
  row(when({ minimum: 0 }, { multipleOf: 2 }, { maximum: -5 }), [2, -6, 'a'], [3, -1]),
  row({ if: { type: 'string' }, else: { minimum: 3 } }, ['a', 3, null], [2]),
  row(when({ type: 'string' }, { minLength: 2 }), ['ab', 1], ['a']),
  row(JSON.parse('{"then": false, "else": false}'), [1, 'a'], []),
  row(when(false, false, { type: 'null' }), [null], [1]),
  row(when(true, { const: 1 }, { const: 2 }), [1], [2]),
]

const UNEVALUATED: readonly Row[] = [
  row({ properties: { a: true }, unevaluatedProperties: false }, [{ a: 1 }, {}, [1], 'a'], [{ b: 1 }]),
  row(
    { allOf: [{ properties: { a: true } }], unevaluatedProperties: { type: 'null' } },
    [{ a: 1, b: null }],
    [{ b: 1 }],
  ),
  row(
    {
      anyOf: [{ properties: { a: { const: 1 } }, required: ['a'] }, { properties: { b: true } }],
      unevaluatedProperties: false,
    },
    [{ a: 1 }, { b: 1 }, { a: 1, b: 2 }],
    [{ a: 2 }, { c: 1 }],
  ),
  row(
    {
      oneOf: [
        { required: ['a'], properties: { a: true } },
        { required: ['b'], properties: { b: true } },
      ],
      unevaluatedProperties: false,
    },
    [{ a: 1 }, { b: 1 }],
    [
      { a: 1, b: 1 },
      { a: 1, c: 1 },
    ],
  ),
  row(
    { $ref: `${COMPONENT}/Named`, unevaluatedProperties: false },
    [{ name: 'a' }, 3],
    [{ name: 'a', b: 1 }, {}],
  ),
  row(
    {
      ...when({ required: ['a'], properties: { a: true } }, { properties: { b: true } }),
      unevaluatedProperties: false,
    },
    [{ a: 1, b: 2 }, {}],
    [{ b: 2 }, { a: 1, c: 1 }],
  ),
  row(
    {
      if: { required: ['a'], properties: { a: true } },
      else: { properties: { b: true } },
      unevaluatedProperties: false,
    },
    [{ a: 1 }, { b: 2 }],
    [{ a: 1, b: 2 }, { c: 1 }],
    NOT_FOLLOWED,
  ),
  row(
    { if: { properties: { a: { const: 1 } } }, unevaluatedProperties: false },
    [{ a: 1 }, {}],
    [{ a: 2 }, { b: 1 }],
    NOT_FOLLOWED,
  ),
  row(
    {
      dependentSchemas: { a: { properties: { b: true } } },
      properties: { a: true },
      unevaluatedProperties: false,
    },
    [{ a: 1, b: 1 }],
    [{ b: 1 }],
  ),
  row({ not: { not: { properties: { a: true } } }, unevaluatedProperties: false }, [{}], [{ a: 1 }]),
  row({ patternProperties: { '^a': true }, unevaluatedProperties: false }, [{ ab: 1 }], [{ b: 1 }]),
  row({ additionalProperties: true, unevaluatedProperties: false }, [{ a: 1 }], []),
  row({ allOf: [{ unevaluatedProperties: true }], unevaluatedProperties: false }, [{ a: 1 }], []),
  row({ allOf: [{ unevaluatedProperties: false }], properties: { a: true } }, [{}], [{ a: 1 }]),
  row(
    { properties: { a: { properties: { b: true }, unevaluatedProperties: false } } },
    [{ a: { b: 1 }, c: 1 }],
    [{ a: { c: 1 } }],
  ),
  row({ prefixItems: [true], unevaluatedItems: false }, [[1], [], { a: 1 }], [[1, 2]]),
  row({ items: true, unevaluatedItems: false }, [[1, 2]], []),
  row({ unevaluatedItems: { type: 'string' } }, [['a'], []], [[1]]),
  row(
    { contains: { type: 'string' }, unevaluatedItems: false },
    [['a'], ['a', 'b']],
    [['a', 1], [1]],
    NOT_FOLLOWED,
  ),
  row(
    { contains: { type: 'string' }, minContains: 0, unevaluatedItems: false },
    [[], ['a']],
    [[1]],
    NOT_FOLLOWED,
  ),
  row(
    { allOf: [{ prefixItems: [true] }, { contains: { const: 1 } }], unevaluatedItems: { type: 'null' } },
    [
      [2, 1],
      ['a', 1, null],
    ],
    [['a', 1, 'b']],
    NOT_FOLLOWED,
  ),
  row(
    {
      anyOf: [{ prefixItems: [{ const: 1 }] }, { prefixItems: [true, { const: 2 }] }],
      unevaluatedItems: false,
    },
    [[1], ['a', 2]],
    [
      ['a', 3],
      [1, 3],
      [1, 2, 3],
    ],
  ),
  row(
    { anyOf: [{ items: { type: 'string' } }, true], unevaluatedItems: { type: 'boolean' } },
    [['a'], [true], []],
    [[1], ['a', 1]],
    NOT_FOLLOWED,
  ),
]

const REFERENCES: readonly Row[] = [
  row(
    { $ref: `${COMPONENT}/Tree` },
    [{ left: { left: { leaf: 1 } } }, { leaf: 'a' }],
    [{ left: { leaf: -1 } }, { left: 3 }, 1],
  ),
  row({ $ref: `${COMPONENT}/Tree/$defs/odd` }, [1], [2, 'a']),
  row({ $ref: `${COMPONENT}/Tree/$defs/chain` }, [{ next: { next: {} } }, 1], []),
  row({ $ref: '#leaf' }, [0, 'a'], [-1]),
  row({ $dynamicRef: '#leaf' }, [0, 'a'], [-1], 'ajv finds dynamic anchors only'),
  row(
    { $ref: `${COMPONENT}/Named`, maxProperties: 1 },
    [{ name: 'a' }, 1],
    [{ name: 'a', b: 1 }, { name: 1 }],
  ),
  row(
    { properties: { a: { $ref: `${COMPONENT}/Named` } }, not: { required: ['b'] } },
    [{ a: { name: 'a' } }],
    [{ a: {} }, { b: 1 }],
  ),
  row({ $ref: 'https://library.example/short' }, ['ab', 1], ['abc']),
  row({ $ref: 'https://library.example/main#here' }, [1], [2]),
  row({ $ref: `${COMPONENT}/Library` }, [{ a: 'x', b: 1, c: [null] }], [{ a: 'xxx' }, { b: 2 }, { c: [1] }]),
]

export const KEYWORD_ROWS: Readonly<Record<string, readonly Row[]>> = {
  types: TYPES,
  values: VALUES,
  numbers: NUMBERS,
  strings: STRINGS,
  arrays: ARRAYS,
  objects: OBJECTS,
  combined: COMBINED,
  unevaluated: UNEVALUATED,
  references: REFERENCES,
}

/** What 3.0 says otherwise. */
export const OLDER_ROWS: readonly Row[] = [
  row({ type: 'string', nullable: true }, ['a', null], [1]),
  row({ type: 'string', nullable: true, not: { const: 'b' } }, ['a', null], [1, 'b']),
  row({ type: 'number', minimum: 1, exclusiveMinimum: true }, [1.5], [1, 0]),
  row({ minimum: 1, exclusiveMinimum: true, minLength: 1 }, [1.5, 'a'], [1, '']),
  row({ maximum: 1, exclusiveMaximum: false, not: { const: 0 } }, [1, -1], [2, 0]),
  row({ type: 'string', enum: ['a', 'b'], nullable: true }, ['a', null], ['c']),
  row({ $ref: `${COMPONENT}/Named`, maxProperties: 0 }, [{ name: 'a' }], [{}]),
  row(
    { allOf: [{ $ref: `${COMPONENT}/Named`, not: {} }], not: { required: ['b'] } },
    [{ name: 'a' }],
    [{ name: 'a', b: 1 }],
  ),
  row(
    { properties: { a: { type: 'integer', format: 'int32' } }, not: { required: ['b'] } },
    [{ a: 1 }],
    [{ a: 2 ** 31 }],
  ),
]
