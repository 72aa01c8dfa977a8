/**
 * `remove-version VERSION`: deletes the oldest version or an unpublished newest one, or squashes one in between: one
 * step with the changes of both replaces the steps to it and from it.
 */
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import ts from 'typescript'
import { filesBelow } from '../cache/cache.ts'
import {
  changeFiles,
  changesFolder,
  configuredStrings,
  editFamily,
  type FamilyEdit,
  indexOfVersion,
  isPathOf,
  loadSoundFamily,
  requireUnpublished,
  type SoundFamily,
} from './edit-family.ts'
import { type CommandOutcome, type CommandRun, count, UsageError } from './run.ts'
import { type ComposedChange, composeChanges, proveSquash } from './squash.ts'
import { renameInImports, splice, stringsIn } from './version-text.ts'

export interface RemoveVersionOptions {
  /** Folder of the changes of the squashed step; by default those of both steps. */
  readonly changes?: string
  readonly unpublished?: boolean
  readonly dryRun?: boolean
}

type Edits = Map<string, string | Buffer | undefined>

/**
 * Removes a version, and generates the output again.
 *
 * @throws UsageError if the version cannot be removed.
 * @throws DiagnosticsError if the answers to a different version would change; then no file changes.
 */
export async function removeVersion(
  run: CommandRun,
  version: string,
  { changes, unpublished = false, dryRun = false }: RemoveVersionOptions,
): Promise<CommandOutcome> {
  const family = await loadSoundFamily(run)
  const index = indexOfVersion(family.apis, version)
  const last = family.apis.length - 1
  if (last === 0) throw new UsageError(`${version} is the only version`)
  if (changes !== undefined && (index === 0 || index === last))
    throw new UsageError(`--changes is for a version in between: ${version} is squashed with none`)
  const edits: Edits = new Map([[family.apis[index]!.file, undefined]])
  removeFromConfiguration(run, family.apis[index]!.file, edits)
  if (index === 0) return editFamily(run, oldest(run, family, edits), dryRun)
  if (index < last) return editFamily(run, await squash(run, family, index, edits, changes), dryRun)
  requireUnpublished(version, true, unpublished)
  return editFamily(run, newest(run, family, edits), dryRun)
}

/** The changes that lead from the oldest version go with it. No other version is translated by them. */
function oldest(run: CommandRun, { apis }: SoundFamily, edits: Edits): FamilyEdit {
  const [{ version, file }, next] = [apis[0]!, apis[1]!]
  const files = [...changeFiles(run, version), ...changeFiles(run, next.version)]
  for (const each of files) edits.set(each, undefined)
  const folder = changesFolder(run, next.version)
  return {
    edits,
    lines: [
      `removed ${file}`,
      ...(files.length > 0 ? [`removed ${folder} (${count(files.length, 'file')})`] : []),
    ],
    data: { version, kind: 'deleted' },
    gone: version,
    next: [`${next.version} is the oldest version now; requests that name ${version} are refused`],
  }
}

function newest(run: CommandRun, { apis }: SoundFamily, edits: Edits): FamilyEdit {
  const [{ version, file }, before] = [apis.at(-1)!, apis.at(-2)!]
  const files = changeFiles(run, version)
  for (const each of files) edits.set(each, undefined)
  const lines = [`removed ${file}`]
  if (files.length > 0) lines.push(`removed ${changesFolder(run, version)} (${count(files.length, 'file')})`)
  const text = readFileSync(before.file, 'utf8')
  const current = /\bx-status\b["']?\s*:\s*["']?current\b/.test(readFileSync(file, 'utf8'))
  const statuses = current
    ? stringsIn(text).filter(({ key, value }) => key === 'x-status' && value === 'supported')
    : []
  if (statuses.length > 0) {
    edits.set(
      before.file,
      splice(
        text,
        statuses.map((each) => ({ ...each, text: 'current' })),
      ),
    )
    lines.push(`edited ${before.file}: its status is now \`current\``)
  }
  return {
    edits,
    lines,
    data: { version, kind: 'deleted' },
    gone: version,
    next: [`handlers serve ${before.version} now: \`tsc\` names those that must change`],
  }
}

/** @throws DiagnosticsError with an example, if the older versions would get something different. */
async function squash(
  run: CommandRun,
  family: SoundFamily,
  index: number,
  edits: Edits,
  folder: string | undefined,
): Promise<FamilyEdit> {
  const { apis } = family
  const [before, { version, file }, next] = [apis[index - 1]!, apis[index]!, apis[index + 1]!]
  const own = folder === undefined ? undefined : await readChanges(run, folder, next.version)
  const composed = own ?? composeChanges(family, index)
  const laws = proveSquash(run, family, index, composed)
  const lines = [`removed ${file}`]
  const target = changesFolder(run, next.version)
  if (target !== undefined && folder === undefined)
    lines.push(
      ...moveChanges(
        run,
        { before: before.version, version, next: next.version, target },
        family,
        composed,
        edits,
      ),
    )
  if (target !== undefined && folder !== undefined) {
    for (const each of [...changeFiles(run, version), ...changeFiles(run, next.version)])
      edits.set(each, undefined)
    for (const each of filesBelow(folder)) {
      edits.set(each, undefined)
      edits.set(join(target, relative(folder, each)), readFileSync(each))
    }
    lines.push(`moved ${folder} to ${target}, in place of the changes of both steps`)
  }
  lines.push(
    `proved for ${before.version}: one step gives the same as two, in ${count(laws, 'translation')}; newer versions are not affected`,
  )
  return {
    edits,
    lines,
    data: { version, kind: 'squashed', into: next.version, translations: laws },
    gone: version,
    next: [
      `the changes of ${version} are changes of ${next.version} now; requests that name ${version} are refused`,
    ],
  }
}

async function readChanges(run: CommandRun, folder: string, next: string): Promise<ComposedChange[]> {
  const { loadChanges } = await import('../change/load-changes.ts')
  const loaded = await loadChanges(dirname(folder), [basename(folder)], run.report)
  run.report.finish()
  if (loaded.length === 0) throw new UsageError(`${folder} has no changes`)
  return loaded.map((change) => ({ change: { ...change, version: next }, source: change.file, without: [] }))
}

interface Squashed {
  readonly before: string
  readonly version: string
  readonly next: string
  /** Folder of the next version's changes. */
  readonly target: string
}

/** Moves the changes of the removed version to those of the next, and corrects the versions whose types they import. */
function moveChanges(
  run: CommandRun,
  { before, version, next, target }: Squashed,
  { changes }: SoundFamily,
  composed: readonly ComposedChange[],
  edits: Edits,
): string[] {
  const source = changesFolder(run, version)!
  const kept = new Map(composed.map((each) => [each.source, each]))
  const lines: string[] = []
  const place = (file: string, to: string, from: string, by: string) => {
    if (to !== file) edits.set(file, undefined)
    if (changes.some((each) => each.file === file) && !kept.has(file)) {
      edits.set(file, undefined)
      lines.push(`removed ${file}: it changes nothing in one step`)
      return
    }
    const content = readFileSync(file)
    const without = kept.get(file)?.without ?? []
    const isCode = file.endsWith('.ts')
    const text = isCode ? withoutExamples(renameInImports(content.toString(), from, by), without) : content
    if (to !== file) requireFree(to, file, content)
    else if (isCode && text !== content.toString()) lines.push(`edited ${file}`)
    edits.set(to, text)
    if (to !== file) lines.push(`moved ${file} to ${to}`)
    if (without.length > 0)
      lines.push(`removed ${count(without.length, 'example')} of ${to}: both steps change its component`)
  }
  for (const file of changeFiles(run, version))
    place(file, join(target, relative(source, file)), version, next)
  for (const file of changeFiles(run, next)) place(file, file, version, before)
  return lines
}

/** Both steps may use equal files, for example a table in JSON. */
function requireFree(to: string, file: string, content: Buffer): void {
  if (!existsSync(to) || (!file.endsWith('.ts') && readFileSync(to).equals(content))) return
  throw new UsageError(`${file} cannot move to ${to}, which exists: rename one of them, and its id`)
}

/** Removes examples of a change from its code. @param positions in the list `examples`. */
function withoutExamples(text: string, positions: readonly number[]): string {
  if (positions.length === 0) return text
  const source = ts.createSourceFile('change.ts', text, ts.ScriptTarget.Latest, true)
  let edited = text
  const visit = (node: ts.Node): void => {
    if (
      ts.isPropertyAssignment(node) &&
      node.name.getText() === 'examples' &&
      ts.isArrayLiteralExpression(node.initializer)
    ) {
      const left = node.initializer.elements.filter((_, at) => !positions.includes(at))
      const list = `[${left.map((each) => each.getFullText().trim()).join(', ')}]`
      edited = splice(text, [
        { start: node.initializer.getStart(), end: node.initializer.getEnd(), text: list },
      ])
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return edited
}

/** Removes the document from the list in the configuration, if it is listed. */
function removeFromConfiguration(run: CommandRun, file: string, edits: Edits): void {
  const text = readFileSync(run.file, 'utf8')
  const found = configuredStrings(text).find(({ value }) => isPathOf(run, value, file))
  if (!found) return
  const [before, after] = [text.slice(0, found.start - 1), text.slice(found.end + 1)]
  const comma = /^\s*,\s*/.exec(after)
  edits.set(run.file, comma ? before + after.slice(comma[0].length) : before.replace(/,?\s*$/, '') + after)
}
