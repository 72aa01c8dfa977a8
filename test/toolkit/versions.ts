/** Pairs of small documents for tests of differences: what changes is given, everything around it is the same. */

import { diffApis } from '../../generators/diff/diff.ts'
import { type Difference, formatLocation } from '../../generators/diff/difference.ts'
import type { Api } from '../../generators/ir/model.ts'
import { read } from '../ir/document.ts'

const at = (version: string): string => `openapi: 3.1.0\ninfo: { title: Test, version: '${version}' }\n`

/** Both documents of a pair. @param bodies YAML that follows the head. */
export function readPair(old: string, next: string): readonly [Api, Api] {
  return [read(old, at('2030-01-01')).api, read(next, at('2030-06-01')).api]
}

/** Where a component is used. */
export type Use = 'request' | 'response' | 'error' | 'event'

const USES: Readonly<Record<Use, string>> = {
  request: `paths:
  /x:
    post:
      operationId: useX
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/X' } } } }
      responses: { '204': { description: ok } }
`,
  response: `paths:
  /x:
    get:
      operationId: useX
      responses: { '200': { description: ok, content: { application/json: { schema: { $ref: '#/components/schemas/X' } } } } }
`,
  error: `paths:
  /x:
    get:
      operationId: useX
      responses: { '200': { description: ok }, '400': { description: no, content: { application/json: { schema: { $ref: '#/components/schemas/X' } } } } }
`,
  event: `paths: {}
webhooks:
  x.used:
    post:
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/X' } } } }
      responses: { '200': { description: ok } }
`,
}

/** A document that uses the component X. @param schemas members of `components.schemas` in flow style: `X: { type: string }`. */
export const using = (use: Use, schemas: string): string =>
  `${USES[use]}components: { schemas: { ${schemas} } }\n`

/** @returns each difference as `class code location`, and the differences themselves. */
export function diffTexts(old: string, next: string): { texts: string[]; found: readonly Difference[] } {
  const [a, b] = readPair(old, next)
  const found = diffApis(a, b)
  return { texts: found.map((each) => `${each.class} ${each.code} ${formatLocation(each.at)}`), found }
}
