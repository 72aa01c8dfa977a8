/** The committed pages: every link leads somewhere, nothing is asked of the outside, the outline is whole. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { versions } from '../../generated/versions.ts'

const names = versions.map((version) => version.name)

/** An element's opening tag as its name and attributes. */
interface Tag {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
}

function tagsOf(page: string): Tag[] {
  return [...page.matchAll(/<([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*>/g)].map(
    ([, name = '', rest = '']) => ({
      name,
      attributes: Object.fromEntries(
        [...rest.matchAll(/([a-z-]+)(?:="([^"]*)")?/g)].map(([, key, value = '']) => [key, value]),
      ),
    }),
  )
}

/** The document as it is served: what the page must cover. */
interface Document {
  readonly paths: Record<string, Record<string, { operationId?: string; 'x-scope'?: string }>>
  readonly components: { schemas: Record<string, { enum?: string[]; properties?: Record<string, object> }> }
}

describePages((version, page, tags) => {
  const ids = tags.flatMap(({ attributes }) => (attributes.id === undefined ? [] : [attributes.id]))
  const document = JSON.parse(
    readFileSync(new URL(`../../generated/${version}/openapi.json`, import.meta.url), 'utf8'),
  ) as Document

  test(`${version}: ids are unique`, () => {
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
    expect(ids.length).toBeGreaterThan(100)
  })

  test(`${version}: links lead to a place on the page or to the page of another version`, () => {
    const links = tags.flatMap(({ name, attributes }) => (name === 'a' ? [attributes.href ?? ''] : []))
    const known = new Set([...ids.map((id) => `#${id}`), ...names.map((name) => `/docs/${name}`)])
    expect(links.filter((href) => !known.has(href) && !href.startsWith('https://'))).toEqual([])
    for (const { attributes } of tags) {
      const label = attributes['aria-labelledby']
      if (label !== undefined) expect(ids).toContain(label)
    }
  })

  test(`${version}: nothing is fetched and nothing runs`, () => {
    const names = new Set(tags.map(({ name }) => name))
    for (const name of [
      'script',
      'img',
      'iframe',
      'object',
      'embed',
      'video',
      'audio',
      'source',
      'form',
      'base',
    ]) {
      expect(names).not.toContain(name)
    }
    const sources = tags.filter(
      ({ name, attributes }) => name === 'link' || 'src' in attributes || 'style' in attributes,
    )
    expect(sources).toEqual([{ name: 'link', attributes: { rel: 'icon', href: 'data:,' } }])
    expect(
      tags.flatMap(({ attributes }) => Object.keys(attributes)).filter((name) => name.startsWith('on')),
    ).toEqual([])
    const style = /<style>(.*?)<\/style>/s.exec(page)?.[1] ?? ''
    expect(style).not.toMatch(/url\(|@import|expression/)
  })

  test(`${version}: headings go down one level at a time, from one h1`, () => {
    const levels = tags.flatMap(({ name }) => (/^h[1-6]$/.test(name) ? [Number(name[1])] : []))
    expect(levels.filter((level) => level === 1)).toHaveLength(1)
    expect(levels.filter((level, index) => level > (levels[index - 1] ?? 0) + 1)).toEqual([])
  })

  test(`${version}: elements are closed in the order they were opened`, () => {
    const open: string[] = []
    for (const [, slash, name = ''] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)\b/g)) {
      if (['meta', 'link', 'br', 'hr'].includes(name)) continue
      if (slash === '/') expect(open.pop()).toBe(name)
      else open.push(name)
    }
    expect(open).toEqual([])
  })

  test(`${version}: every operation, schema, property and error code has its anchor`, () => {
    const operations = Object.values(document.paths).flatMap((item) =>
      Object.values(item).map((each) => each.operationId),
    )
    const { schemas } = document.components
    const properties = Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
      Object.keys(properties).map((property) => `schema-${name}.${property}`),
    )
    const wanted = [
      ...operations,
      ...Object.keys(schemas).map((name) => `schema-${name}`),
      ...properties,
      ...(schemas.ErrorCode?.enum ?? []).map((code) => `error-${code}`),
    ]
    expect(wanted.filter((id) => !ids.includes(id ?? ''))).toEqual([])
    expect(schemas.ErrorCode?.enum?.length).toBeGreaterThan(20)
  })

  test(`${version}: a page weighs about a megabyte at most, and no line is a wall`, () => {
    expect(Buffer.byteLength(page)).toBeLessThan(1_100_000)
    expect(Math.max(...page.split('\n').map((line) => line.length))).toBeLessThan(2000)
  })
})

function describePages(check: (version: string, page: string, tags: readonly Tag[]) => void): void {
  for (const version of names) {
    const file = new URL(`../../generated/${version}/reference.html`, import.meta.url)
    const page = existsSync(file) ? readFileSync(file, 'utf8') : ''
    check(version, page, tagsOf(page))
  }
}
