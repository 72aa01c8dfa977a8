/** Collections for Postman and Bruno: every operation is in them once, and all that a request needs is set. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { versions } from '../../generated/versions.ts'
import { ROOT } from '../support/programs.ts'

interface Pair {
  readonly key: string
  readonly value: string
  readonly disabled?: boolean
}

interface Item {
  readonly name: string
  readonly item?: readonly Item[]
  readonly request?: {
    readonly method: string
    readonly header: readonly Pair[]
    readonly auth?: { readonly type: string }
    readonly url: {
      readonly raw: string
      readonly path: readonly string[]
      readonly variable?: readonly Pair[]
    }
  }
}

interface BrunoItem {
  readonly items?: readonly BrunoItem[]
  readonly request?: {
    readonly method: string
    readonly url: string
    readonly headers: readonly { readonly name: string; readonly value: string }[]
    readonly params: readonly { readonly name: string; readonly value: string; readonly type: string }[]
    readonly auth: { readonly mode: string }
  }
}

const read = (version: string, file: string) =>
  JSON.parse(readFileSync(join(ROOT, 'generated', file.replace('VERSION', version)), 'utf8'))

const requestsOf = (items: readonly Item[]): NonNullable<Item['request']>[] =>
  items.flatMap(({ item, request }) => (request ? [request] : requestsOf(item ?? [])))

const brunoRequestsOf = (items: readonly BrunoItem[]): NonNullable<BrunoItem['request']>[] =>
  items.flatMap(({ items: inside, request }) => (request ? [request] : brunoRequestsOf(inside ?? [])))

/** Names in braces, but for those that the programs fill in. */
const variablesIn = (value: unknown): string[] => [
  ...new Set([...JSON.stringify(value).matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name)),
]

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

describe.each(versions.map(({ name }) => name))('version %s', (version) => {
  const document = read(version, 'VERSION/openapi.json') as {
    readonly paths: Record<string, Record<string, { readonly security?: readonly object[] }>>
  }
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map(
      (method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
    ),
  )
  const postman = read(version, 'site/VERSION/postman.json')
  const bruno = read(version, 'site/VERSION/bruno.json')

  test('every operation is there once, with the version and the credential', () => {
    const requests = requestsOf(postman.item)
    const asked = requests.map(({ method, url }) => `${method} /${url.path.join('/')}`)
    expect(asked.toSorted()).toEqual(operations.toSorted())
    for (const { header } of requests)
      expect(header).toContainEqual(expect.objectContaining({ key: 'Service-Version', value: version }))
    expect(postman.auth).toEqual({
      type: 'bearer',
      bearer: [{ key: 'token', value: '{{api_key}}', type: 'string' }],
    })
    expect(postman.variable).toContainEqual(expect.objectContaining({ key: 'api_key', value: '' }))
  })

  test('each POST has a key of its own, each part of a path a value, each variable a line', () => {
    const requests = requestsOf(postman.item)
    const keyless = requests.filter(
      ({ method, header }) =>
        method === 'POST' &&
        !header.some(({ key, value }) => key === 'Idempotency-Key' && value === '{{$guid}}'),
    )
    expect(keyless.map(({ url }) => url.raw)).toEqual([])
    for (const { url } of requests) {
      const named = url.path.filter((part) => part.startsWith(':')).map((part) => part.slice(1))
      expect((url.variable ?? []).map(({ key }) => key)).toEqual(named)
      expect((url.variable ?? []).every(({ value }) => value !== '')).toBe(true)
    }
    expect(variablesIn(postman.item)).toEqual(
      variablesIn(postman.item).filter((name) => postman.variable.some((each: Pair) => each.key === name)),
    )
  })

  test('Bruno asks the same, in an environment for each server', () => {
    const shown = (method: string, url: string, headers: readonly object[]) => ({ method, url, headers })
    const theirs = brunoRequestsOf(bruno.items).map(({ method, url, headers }) => shown(method, url, headers))
    const ours = requestsOf(postman.item).map(({ method, url, header }) =>
      shown(
        method,
        url.raw,
        header.map(({ key, value, disabled, ...rest }) =>
          expect.objectContaining({ name: key, value, enabled: disabled !== true, ...rest }),
        ),
      ),
    )
    expect(theirs).toEqual(ours)
    expect(bruno.environments.map(({ name }: { name: string }) => name)).toEqual(['Sandbox', 'Live'])
    for (const { variables } of bruno.environments) {
      const names = variables.map(({ name }: { name: string }) => name)
      expect(names).toEqual(expect.arrayContaining(variablesIn(bruno.items)))
      expect(variables).toContainEqual(expect.objectContaining({ name: 'api_key', value: '', secret: true }))
    }
  })
})
