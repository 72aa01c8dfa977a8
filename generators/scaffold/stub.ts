/**
 * What operations without a handler need: files made from the project's own templates, and additions to files that
 * stand there.
 */
import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import Handlebars from 'handlebars'
import { makeFolder } from '../cache/make-folder.ts'
import { type CanonicalOperation, canonicalOperations } from '../change/canonical.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import type { Api, ApiOperation } from '../ir/model.ts'
import type { StubConfig, StubFile } from './config.ts'
import { memberNames, mergeSource } from './merge.ts'
import { type ResourceView, tagsOf, viewResource } from './resource-view.ts'

/**
 * @param handlers folder below which an exported object has a member named after each written operation.
 * @param changes of all versions: what one serves under another id has no handler of its own.
 * @returns operations without a handler, in the order of the newest document.
 */
export function missingOperations(
  apis: readonly Api[],
  handlers: string,
  changes: readonly LoadedChange[] = [],
): readonly CanonicalOperation[] {
  const operations = canonicalOperations(apis, changes)
  const handled = handlerFiles(
    operations.map(({ operation }) => operation.id),
    handlers,
  )
  return operations.filter(({ operation }) => !handled.has(operation.id))
}

/** The files below a folder that handle operations, by the operation's id. */
function handlerFiles(ids: readonly string[], handlers: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const file of globSync(join(handlers, '**/*.ts')).toSorted()) {
    const text = readFileSync(file, 'utf8')
    // Parsing is slow, so it is done only for a file that names an operation.
    if (!ids.some((id) => text.includes(id))) continue
    const names = new Set(memberNames(text))
    for (const id of ids) if (names.has(id) && !files.has(id)) files.set(id, file)
  }
  return files
}

/**
 * The folder, below that of the handlers, where a tag's handlers belong: where its other operations are handled;
 * otherwise beside the folders of its group; otherwise a folder of its own.
 *
 * @param files those that handle operations, by the operation's id.
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
  /** Files that exist and are not added to. */
  readonly left: readonly string[]
}

/**
 * Writes the files.
 *
 * @param root folder that the files of the configuration are relative to.
 * @param handlers folder of the handlers: the templates' `folder` is a path below it.
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

/** What templates may ask beside Handlebars' own; the last argument is Handlebars' options. */
const HELPERS: Readonly<Record<string, Handlebars.HelperDelegate>> = {
  eq: (a, b) => a === b,
  not: (value) => !value,
  some: (...values) => values.slice(0, -1).some(Boolean),
  has: (members: readonly { readonly name: string }[], name: string) =>
    members.some((member) => member.name === name),
  add: (a: number, b: number) => a + b,
  pad: (text: string, width: number) => text.padEnd(width),
  json: (value) => JSON.stringify(value),
  // `lost_keys` is "Lost keys".
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

/** The path may ask for `{{number}}`: the next one among the numbered files of its folder, as wide as they are. */
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
