/** What code generators need of the served documents. `npm run prove:generators` runs the generators. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { versions } from '../../generated/versions.ts'
import { ROOT } from '../support/programs.ts'

type Item = Readonly<Record<string, { readonly operationId: string; readonly tags: readonly string[] }>>

interface Served {
  readonly paths: Readonly<Record<string, Item>>
  readonly webhooks: Readonly<Record<string, { readonly post: { readonly requestBody: object } }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>> & {
      readonly WebhookEvent: {
        readonly oneOf: readonly { readonly $ref: string }[]
        readonly discriminator: object
      }
    }
  }
}

describe.each(versions.map(({ name }) => name))('%s', (version) => {
  const document: Served = JSON.parse(readFileSync(join(ROOT, 'generated', version, 'openapi.json'), 'utf8'))
  const { schemas } = document.components
  const operations = [document.paths, document.webhooks as unknown as Served['paths']]
    .flatMap((items) => Object.values(items))
    .flatMap((item) => Object.values(item))

  test('the union WebhookEvent has the body of each webhook', () => {
    const { oneOf, discriminator } = schemas.WebhookEvent
    const mapping = Object.fromEntries(
      Object.entries(document.webhooks).map(([type, { post }], index) => {
        const schema = oneOf[index]
        expect(post.requestBody).toMatchObject({ content: { 'application/json': { schema } } })
        return [type, schema?.$ref]
      }),
    )
    expect(discriminator).toEqual({ propertyName: 'type', mapping })
    expect(oneOf).toHaveLength(Object.keys(mapping).length)
  })

  test('names of files and types that generators derive are unique', () => {
    const ids = operations.map(({ operationId }) => operationId)
    const types = ids.flatMap((id) =>
      ['', 'Data', 'Error', 'Errors', 'Params', 'Response'].map((end) => id + end),
    )
    const names = [...types, ...Object.keys(schemas)].map((name) => name.toLowerCase())
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
    expect(operations.filter(({ tags }) => tags?.length !== 1)).toEqual([])
  })
})

test('the page "Other languages" installs the versions that are tested', () => {
  const page = readFileSync(join(ROOT, 'docs/site/17-other-languages.md.hbs'), 'utf8')
  const installed = Object.assign(
    {},
    ...['package.json', 'test/bench/package.json'].map((file) => {
      const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, file), 'utf8'))
      return { ...dependencies, ...devDependencies }
    }),
  )
  const packages = [...page.matchAll(/^npm install (.+)$/gm)].flatMap(([, words = '']) =>
    [...words.matchAll(/(@?[^@\s]+)@(\S+)/g)].map(([, name = '', version]) => ({ name, version })),
  )
  expect(packages.length).toBeGreaterThanOrEqual(8)
  expect(packages).toEqual(packages.map(({ name }) => ({ name, version: installed[name] })))
})
