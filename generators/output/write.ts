/**
 * Writes files to disk: only files that differ. Removes stale files, and never touches files that
 * dateline did not write.
 */
import { readdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { hashFile, isNoFile } from '../cache/cache.ts'
import { makeFolder } from '../cache/make-folder.ts'
import { type Diagnostic, DiagnosticsError } from '../diagnostics/diagnostic.ts'
import type { OutputFile } from '../ir/model.ts'
import { type BuiltEmitter, builtBy, readManifest } from './built.ts'
import { MANIFEST, type Manifest, manifestOf, mergeManifests, owns, printManifest } from './manifest.ts'

export interface Drift {
  readonly path: string
  /**
   * `foreign`: not written by dateline, or edited since. For files built when needed: `unlisted` if the file is
   * missing and the manifest has a different hash; `outdated` if the manifest is right and the file differs.
   */
  readonly kind: 'changed' | 'missing' | 'stale' | 'foreign' | 'unlisted' | 'outdated'
  readonly wanted: string
  readonly found: string
}

/** How to treat files of earlier runs that this run does not write. */
export type Rest = 'remove' | 'keep'

/**
 * Compares an output folder with the files that it should hold. Never writes.
 *
 * @param built emitters whose files may be missing: only their hashes in the manifest are compared.
 */
export function findDrift(
  out: string,
  files: readonly OutputFile[],
  built: readonly BuiltEmitter[] = [],
): Drift[] {
  const before = readManifest(out)
  const isListed = ({ path, wanted }: Drift) =>
    before !== undefined &&
    manifestOf([{ path, text: wanted }])
      .get(path)!
      .some((hash) => owns(before, path, hash))
  return driftFrom(out, wantedIn(out, files, 'remove'), 'remove', built).flatMap((each): Drift[] => {
    const { kind } = each
    if (kind === 'stale' || builtBy(each.path, built) === undefined) return [each]
    if (kind === 'missing') return isListed(each) ? [] : [{ ...each, kind: 'unlisted' }]
    return [isListed(each) ? { ...each, kind: 'outdated' } : each]
  })
}

/** The intended contents of an output folder. */
interface Wanted {
  readonly files: readonly OutputFile[]
  /** The entries of these files. */
  readonly listed: Manifest
  /** The entries of all files that are in the folder after the run. */
  readonly manifest: Manifest
}

function wantedIn(out: string, files: readonly OutputFile[], rest: Rest): Wanted {
  const listed = manifestOf(files)
  const before = rest === 'keep' ? readManifest(out) : undefined
  return { files, listed, manifest: before ? mergeManifests(before, listed) : listed }
}

function driftFrom(
  out: string,
  { files, listed, manifest }: Wanted,
  rest: Rest,
  built: readonly BuiltEmitter[],
): Drift[] {
  const before = readManifest(out)
  const wanted = new Map(files.map((file) => [file.path, file]))
  wanted.set(MANIFEST, { path: MANIFEST, text: printManifest(manifest) })
  const drift: Drift[] = []
  const there = entriesBelow(out)
  for (const [path, file] of wanted) {
    // A lone surrogate cannot be encoded in UTF-8 and would be read back as a different text.
    const textOf = () => file.text.toWellFormed()
    if (!there.has(path)) {
      drift.push({ path, kind: 'missing', wanted: textOf(), found: '' })
      continue
    }
    const hash = there.get(path) === 'file' ? hashFile(join(out, path)) : undefined
    if (hash === undefined || owns(listed, path, hash)) continue
    const found = readText(join(out, path)) ?? ''
    const text = textOf()
    const isOurs = path === MANIFEST ? before !== undefined : before?.has(path)
    const ours = isOurs || builtBy(path, built) !== undefined
    if (found !== text) drift.push({ path, kind: ours ? 'changed' : 'foreign', wanted: text, found })
  }
  for (const [path, type] of there) {
    if (type === 'folder' ? !wanted.has(path) : type === 'file' && wanted.has(path)) continue
    const hash = type === 'file' ? hashFile(join(out, path)) : undefined
    const ours = hash !== undefined && before !== undefined && owns(before, path, hash)
    if (ours && rest === 'keep') continue
    // Leftover files of these emitters, for example from a different branch, are ignored.
    if (!ours && builtBy(path, built) !== undefined) continue
    const found = type === 'file' ? (readText(join(out, path)) ?? '') : ''
    drift.push({ path, kind: ours ? 'stale' : 'foreign', wanted: '', found })
  }
  return drift
}

/**
 * Returns what `writeFiles` would change.
 *
 * @throws DiagnosticsError if the folder holds files that dateline did not write.
 */
export function planFiles(
  out: string,
  files: readonly OutputFile[],
  built: readonly BuiltEmitter[] = [],
): Drift[] {
  return planFrom(out, wantedIn(out, files, 'remove'), 'remove', built)
}

function planFrom(out: string, wanted: Wanted, rest: Rest, built: readonly BuiltEmitter[]): Drift[] {
  const drift = driftFrom(out, wanted, rest, built)
  const foreign = drift.filter((each) => each.kind === 'foreign')
  if (foreign.length > 0) throw new DiagnosticsError(explainForeign(out, foreign))
  return drift
}

/**
 * Makes the folder hold exactly these files. The manifest is written first, so that the next run recognizes the
 * files of a run that was killed.
 *
 * @param built emitters whose files are replaced even if dateline did not write them.
 * @returns the changes made.
 * @throws DiagnosticsError before writing anything if foreign files are in the way, or if the folder cannot be
 *   written.
 */
export function writeFiles(
  out: string,
  files: readonly OutputFile[],
  rest: Rest = 'remove',
  built: readonly BuiltEmitter[] = [],
): Drift[] {
  const wanted = wantedIn(out, files, rest)
  const drift = planFrom(out, wanted, rest, built)
  if (drift.length > 0) withWritable(out, () => carryOut(out, wanted, drift))
  return drift
}

/**
 * Writes files that the manifest already lists. Each file is replaced atomically, so several processes can do this
 * concurrently.
 *
 * @throws DiagnosticsError if the folder cannot be written.
 */
export function writeBuilt(out: string, files: readonly OutputFile[]): void {
  withWritable(out, () => {
    removeTemporaries(out)
    for (const { path, text } of files) replace(out, path, text)
  })
}

function withWritable(out: string, write: () => void): void {
  try {
    write()
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === undefined) throw cause
    throw new DiagnosticsError([
      {
        code: 'output-unwritable',
        severity: 'error',
        place: { file: out, line: 1, column: 1, pointer: '' },
        message: `cannot write to ${out}: ${(cause as Error).message}`,
        hint: 'correct its permissions or free disk space, then generate again',
      },
    ])
  }
}

function carryOut(out: string, { files, manifest }: Wanted, drift: readonly Drift[]): void {
  makeFolder(out)
  removeTemporaries(out)
  replace(out, MANIFEST, printManifest(mergeManifests(readManifest(out) ?? new Map(), manifest)))
  const stale = drift.filter((each) => each.kind === 'stale')
  for (const { path } of stale) {
    rmSync(join(out, path))
    removeEmptyFolders(out, dirname(join(out, path)))
  }
  // On a case-insensitive file system, the stale `V1/types.ts` and the wanted `v1/types.ts` were the same file.
  const removed = new Set(stale.map(({ path }) => path.toLowerCase()))
  const drifted = new Set(drift.map(({ path }) => path))
  for (const file of files) {
    const { path } = file
    if (drifted.has(path) || removed.has(path.toLowerCase())) replace(out, path, file.text)
  }
  replace(out, MANIFEST, printManifest(manifest))
}

const MAX_SHOWN = 20

function explainForeign(out: string, foreign: readonly Drift[]): Diagnostic[] {
  const shown = foreign.slice(0, MAX_SHOWN).map(
    ({ path }): Diagnostic => ({
      code: 'output-foreign',
      severity: 'error',
      place: { file: join(out, path), line: 1, column: 1, pointer: '' },
      message: `${path} was not written by dateline, or was edited since`,
      hint: `move it out of ${out}, delete it, or set \`out\` to a folder without other files`,
    }),
  )
  const more = foreign.length - shown.length
  if (more === 0) return shown
  return [
    ...shown,
    { code: 'output-foreign', severity: 'error', message: `${more} more such files in ${out}` },
  ]
}

const TEMPORARY = /^\.dateline\.(\d+)\.tmp$/

/** Replaces a file atomically: a reader sees the old text or the new one. */
function replace(out: string, path: string, text: string): void {
  const target = join(out, path)
  makeFolder(dirname(target))
  const temporary = join(out, `.dateline.${process.pid}.tmp`)
  writeFileSync(temporary, text)
  renameSync(temporary, target)
}

/** Removes temporary files of killed runs; keeps those of concurrent runs. */
function removeTemporaries(out: string): void {
  for (const name of readdirSync(out)) {
    const pid = TEMPORARY.exec(name)?.[1]
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(out, name), { force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Returns the text of a file, or undefined if it does not exist. */
export function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    if (isNoFile(cause)) return undefined
    throw cause
  }
}

type EntryType = 'file' | 'folder' | 'other'

/**
 * Lists everything in a folder, with `/` between folders on every platform. Does not follow links. Skips installed
 * dependencies, build results of the client, and output of other families.
 */
function entriesBelow(out: string): Map<string, EntryType> {
  if (!statSync(out, { throwIfNoEntry: false })) return new Map()
  const entries = readdirSync(out, { recursive: true, withFileTypes: true })
    .map((entry): [string, EntryType] => [
      relative(out, join(entry.parentPath, entry.name)).split(sep).join('/'),
      entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : 'other',
    ])
    .filter(([path]) => !/(^|\/)(node_modules|dist)(\/|$)/.test(path) && !TEMPORARY.test(path))
  // A folder with a manifest of its own is the output of another family.
  const others = entries.flatMap(([path]) =>
    path.endsWith(`/${MANIFEST}`) ? [path.slice(0, -MANIFEST.length)] : [],
  )
  return new Map(
    entries
      .filter(([path]) => !others.some((folder) => `${path}/`.startsWith(folder)))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

/** Returns the paths of all entries in a folder that are not folders. */
export function pathsBelow(out: string): string[] {
  return [...entriesBelow(out)].filter(([, type]) => type !== 'folder').map(([path]) => path)
}

function removeEmptyFolders(out: string, folder: string): void {
  for (let at = folder; at !== out && readdirSync(at).length === 0; at = dirname(at)) rmdirSync(at)
}
