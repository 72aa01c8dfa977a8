/** Files to disk: all or nothing in effect, only what differs, and nothing stale left behind. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import type { OutputFile } from './ir/model.ts'

/** Lists every output, so that a file whose source is gone is known for stale. */
const MANIFEST = 'manifest.json'

export interface Drift {
  readonly path: string
  readonly kind: 'changed' | 'missing' | 'stale'
  readonly wanted: string
  readonly found: string
}

/** @returns where the folder differs from the files that it should hold. Never writes. */
export function findDrift(out: string, files: readonly OutputFile[]): Drift[] {
  const wanted = new Map(withManifest(files).map((file) => [file.path, file.text]))
  const drift: Drift[] = []
  for (const [path, text] of wanted) {
    const found = readText(join(out, path))
    if (found === undefined) drift.push({ path, kind: 'missing', wanted: text, found: '' })
    else if (found !== text) drift.push({ path, kind: 'changed', wanted: text, found })
  }
  for (const path of pathsBelow(out)) {
    if (!wanted.has(path))
      drift.push({ path, kind: 'stale', wanted: '', found: readText(join(out, path)) ?? '' })
  }
  return drift
}

/** Makes the folder hold exactly these files. @returns what it changed. */
export function writeFiles(out: string, files: readonly OutputFile[]): Drift[] {
  const drift = findDrift(out, files)
  for (const each of drift) {
    const target = join(out, each.path)
    if (each.kind === 'stale') {
      rmSync(target)
      removeEmptyFolders(out, dirname(target))
    } else {
      mkdirSync(dirname(target), { recursive: true })
      const temporary = `${target}.${process.pid}.tmp`
      writeFileSync(temporary, each.wanted)
      renameSync(temporary, target)
    }
  }
  return drift
}

function withManifest(files: readonly OutputFile[]): OutputFile[] {
  const manifest = { files: files.map((file) => file.path) }
  return [...files, { path: MANIFEST, text: `${JSON.stringify(manifest, null, 2)}\n` }]
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw cause
  }
}

/** Files below a folder with `/` between folders, whatever the machine; dependencies and builds of the client are not ours. */
export function pathsBelow(out: string): string[] {
  try {
    return readdirSync(out, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(out, join(entry.parentPath, entry.name)).split(sep).join('/'))
      .filter((path) => !/(^|\/)(node_modules|dist)\//.test(path))
      .sort()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw cause
  }
}

function removeEmptyFolders(out: string, folder: string): void {
  for (let at = folder; at !== out && readdirSync(at).length === 0; at = dirname(at)) rmdirSync(at)
}
