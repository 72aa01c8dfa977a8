/**
 * Preloaded: puts the faults that `SIMULATION_FAULTS` names into the files that Node.js loads. No copy of the project is
 * needed.
 */
import { createRequire, registerHooks, syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FAULTS_VARIABLE, type Replacement } from './replacement.ts'

const ROOT = join(import.meta.dirname, '../../..')
const faults = JSON.parse(process.env[FAULTS_VARIABLE] ?? '[]') as readonly Replacement[]

function replace(path: string, text: string): string {
  return faults
    .filter(({ file }) => join(ROOT, file) === path)
    .reduce((before, { start, end, text: part }) => before.slice(0, start) + part + before.slice(end), text)
}

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    if (!url.startsWith('file:') || !loaded.source) return loaded
    const source = String(loaded.source)
    const wrong = replace(fileURLToPath(url), source)
    return wrong === source ? loaded : { ...loaded, source: wrong }
  },
})

const files = createRequire(import.meta.url)('node:fs') as { readFileSync: (...given: unknown[]) => unknown }
const { readFileSync } = files
files.readFileSync = (path, ...rest) => {
  const text = readFileSync(path, ...rest)
  return typeof text === 'string' && typeof path === 'string' && path.endsWith('.sql')
    ? replace(path, text)
    : text
}
syncBuiltinESMExports()
