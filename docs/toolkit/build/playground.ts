/** Bundles the playground for browsers. The worker's script is part of the page's, so that it also runs without a server. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type RolldownPluginOption, rolldown } from 'rolldown'

const FOLDER = 'docs/toolkit/playground'

export interface PlaygroundFiles {
  readonly html: string
  readonly style: string
  readonly script: string
}

/** @throws Error if the bundle needs an API of Node */
export async function buildPlayground(): Promise<PlaygroundFiles> {
  const worker = await bundle(join(FOLDER, 'page/worker.ts'))
  const script = await bundle(join(FOLDER, 'page/page.ts'), {
    name: 'worker-script',
    resolveId: (id) => (id === 'playground:worker' ? id : null),
    load: (id) => (id === 'playground:worker' ? `export default ${JSON.stringify(worker)}` : null),
  })
  const read = (name: string) => readFileSync(join(FOLDER, 'page', name), 'utf8')
  return { html: read('page.html'), style: read('page.css'), script }
}

/** What takes the place of Node in the browser. */
const REPLACED: Readonly<Record<string, string>> = {
  'node:crypto': 'digest.ts',
  'node:fs': 'no-files.ts',
  'node:path': 'no-files.ts',
}

/** Other modules of Node are left out with the functions that use them, which the playground does not call. */
const withoutNode: RolldownPluginOption = {
  name: 'without-node',
  resolveId: (id) => {
    const replacement = REPLACED[id]
    if (replacement !== undefined) return resolve(FOLDER, replacement)
    return id.startsWith('node:') ? { id, external: true, moduleSideEffects: false } : null
  },
}

async function bundle(input: string, ...plugins: readonly RolldownPluginOption[]): Promise<string> {
  const build = await rolldown({ input, platform: 'browser', plugins: [...plugins, withoutNode] })
  const { output } = await build.generate({ format: 'iife', minify: true })
  await build.close()
  const [{ code, imports }] = output
  // `imports` also names modules that are not used. A used one is a global variable of the script: `node_fs`.
  const used = imports.filter((name) => code.includes(name.replaceAll(/\W/g, '_')))
  if (used.length > 0) throw new Error(`${input} needs ${used.join(', ')}, which browsers lack`)
  return code
}
