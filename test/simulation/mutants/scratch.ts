/** A copy of the project below the temporary folder, in which one file at a time is wrong. */
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '../../..')

const COPIED = [
  'runtime',
  'generated',
  'openapi',
  'versions',
  'test/simulation',
  'test/support',
  'package.json',
]
const LINKED = ['node_modules', 'docs', 'generators', 'dateline.config.json']

export interface Scratch {
  readonly directory: string
  write(file: string, text: string): void
  remove(): void
}

export function makeScratch(): Scratch {
  const directory = mkdtempSync(join(tmpdir(), 'svc-mutants-'))
  for (const each of COPIED) cpSync(join(ROOT, each), join(directory, each), { recursive: true })
  for (const each of LINKED) symlinkSync(join(ROOT, each), join(directory, each))
  return {
    directory,
    write: (file, text) => writeFileSync(join(directory, file), text),
    remove: () => rmSync(directory, { recursive: true }),
  }
}
