/** Paths with a word where others have a parameter: the word wins in the versions that have it. */
import { beforeAll, describe, expect, test } from 'vitest'
import { versions } from '../../generated/versions.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'

const service = useService()
let secret: string

beforeAll(async () => {
  secret = (await makeKey(service, await makeTenant(service, 'enterprise'), { scope: 'admin' })).secret
})

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

const PARAMETER = /\{\w+\}/

/** Paths of any version with a word where another path of any version has a parameter. */
const all = [...new Set(versions.flatMap(({ operations }) => operations.map(({ path }) => path)))]
const isWider = (wide: string, path: string) =>
  wide !== path && new RegExp(`^${wide.replaceAll(/\{\w+\}/g, '[^/{}]+')}$`).test(path)
const words = all.filter((path) => !PARAMETER.test(path) && all.some((wide) => isWider(wide, path)))

test('there are paths with a word beside a parameter', () => {
  expect(words).toEqual(expect.arrayContaining(['/v1/passes/batch', '/v1/passes/count', '/v1/events/stream']))
})

/** Methods that a version has at exactly the path. */
const methodsOf = ({ operations }: (typeof versions)[number], path: string) =>
  operations.filter((each) => each.path === path).map(({ method }) => method as string)

describe.each(versions.map((version) => [version.name, version] as const))('in %s', (name, version) => {
  test.each(words)('a word in the path %s wins over a parameter', async (path) => {
    const send: Send = speak(service.urls.sandbox, { secret, version: name })
    const here = methodsOf(version, path)
    const anywhere = new Set(versions.flatMap((each) => methodsOf(each, path)))
    for (const method of METHODS) {
      if (here.includes(method)) continue
      const { status, headers, body } = await send(path, { method })
      const isThere = here.length > 0
      // A version without the path takes its word for the value of a parameter: no object is called so.
      const wanted = isThere && !anywhere.has(method) ? [405, here.join(', ')] : undefined
      if (wanted) expect([method, status, headers.get('Allow')]).toEqual([method, ...wanted])
      else if (isThere || anywhere.has(method))
        expect([method, status, body.error.code]).toEqual([method, 404, 'not_found'])
      else expect([method, [404, 405, 422, 400].includes(status)]).toEqual([method, true])
    }
  })
})
