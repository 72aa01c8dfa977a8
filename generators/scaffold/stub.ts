/**
 * Creates files from the project's own templates for operations without a handler, and merges code into existing
 * files.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import Handlebars from 'handlebars'
import { makeFolder } from '../cache/make-folder.ts'
import type { Api, ApiOperation } from '../ir/model.ts'
import type { StubConfig, StubFile } from './config.ts'
import { handlerFiles } from './handled.ts'
import { mergeSource } from './merge.ts'
import { type ResourceView, tagsOf, viewResource } from './resource-view.ts'

/**
 * Returns the folder for a tag's handlers, relative to `handlers`: the folder of its other handlers, or else a
 * folder next to those of its group, or else a new folder.
 *
 * @param files handler files by operation id.
 */
function folderOf(
  api: Api,
  { tag, dashed, group }: ResourceView,
  handlers: string,
  files: ReadonlyMap<string, string>,
): string {
  const folders = (tags: readonly string[]) =>
    api.operations.flatMap((each) => (tags.includes(each.tag) ? (files.get(each.id) ?? []) : [])).map(dirname)
  const [own] = folders([tag])
  if (own !== undefined) return relative(handlers, own)
  const [neighbor] = folders(tagsOf(api, group))
  return neighbor === undefined ? dashed : join(relative(handlers, neighbor), '..', dashed)
}

export interface Stubs {
  readonly operations: readonly string[]
  readonly written: readonly string[]
  /** Existing files that were kept. */
  readonly left: readonly string[]
}

/**
 * Writes the stub files.
 *
 * @param root folder that paths in the configuration are relative to.
 * @param handlers folder of handlers; the templates' `folder` is relative to it.
 */
export function writeStubs(
  api: Api,
  operations: readonly ApiOperation[],
  config: StubConfig,
  root: string,
  handlers: string,
): Stubs {
  const handlebars = Handlebars.create()
  handlebars.registerHelper(HELPERS)
  const written = new Set<string>()
  const left = new Set<string>()
  const compile = (text: string) => handlebars.compile(text, { strict: true, noEscape: true })
  const files = handlerFiles(
    api.operations.map(({ id }) => id),
    handlers,
  )
  for (const tag of new Set(operations.map((operation) => operation.tag))) {
    const own = operations.filter((operation) => operation.tag === tag)
    const resource = viewResource(api, tag, own)
    const view = { ...resource, folder: folderOf(api, resource, handlers, files) }
    for (const wanted of config.files) {
      if (wanted.for !== undefined && !view.operations.some(({ kind }) => kind === wanted.for)) continue
      const source = readFileSync(join(root, config.templates, `${wanted.template}.hbs`), 'utf8')
      const file = join(root, pathOf(wanted, view, root, compile))
      const text = compile(source)(view)
      if (text.trim() === '') continue
      if (!existsSync(file)) makeFolder(dirname(file))
      else if (!wanted.merge) {
        left.add(file)
        continue
      }
      writeFileSync(file, existsSync(file) ? merged(file, text, wanted, own) : text)
      written.add(file)
    }
  }
  return { operations: operations.map(({ id }) => id), written: [...written], left: [...left] }
}

/** Handlebars helpers for templates. Handlebars passes its options as the last argument. */
const HELPERS: Readonly<Record<string, Handlebars.HelperDelegate>> = {
  eq: (a, b) => a === b,
  not: (value) => !value,
  some: (...values) => values.slice(0, -1).some(Boolean),
  has: (members: readonly { readonly name: string }[], name: string) =>
    members.some((member) => member.name === name),
  add: (a: number, b: number) => a + b,
  pad: (text: string, width: number) => text.padEnd(width),
  json: (value) => JSON.stringify(value),
  // `lost_keys` becomes "Lost keys".
  words: (name: string) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' '),
  // {{pick type string="text" boolean="boolean"}}
  pick: (name: string, { hash }: Handlebars.HelperOptions) => String(hash[name]),
}

const merged = (file: string, text: string, { without }: StubFile, own: readonly ApiOperation[]): string =>
  mergeSource(
    readFileSync(file, 'utf8'),
    text,
    without === undefined ? undefined : { object: without, members: own.map(({ id }) => id) },
  )

type Compile = (text: string) => (view: object) => string

/**
 * Returns the path of a file. `{{number}}` in it is the next number in the folder, with the same number of digits.
 */
function pathOf({ file }: StubFile, view: ResourceView, root: string, compile: Compile): string {
  const plain = compile(file)({ ...view, number: '' })
  const folder = join(root, dirname(plain))
  const numbered = existsSync(folder) ? readdirSync(folder).filter((name) => /^\d+_/.test(name)) : []
  const same = numbered.find((name) => name.replace(/^\d+/, '') === basename(plain))
  if (file.includes('{{number}}') && same !== undefined) return join(dirname(plain), same)
  const width = numbered[0]?.match(/^\d+/)?.[0].length ?? 4
  const last = Math.max(0, ...numbered.map((name) => Number.parseInt(name, 10)))
  return compile(file)({ ...view, number: String(last + 1).padStart(width, '0') })
}
