/** One generator of clients over the documents of a folder: `node test/bench/toolkit-peers.ts GENERATOR FOLDER OUT`. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, extname, join, resolve } from 'node:path'
import { load } from 'js-yaml'

/** Generates from one document into a folder of its own. Only the generator that runs is loaded. */
const GENERATORS: Readonly<Record<string, (file: string, out: string) => Promise<unknown>>> = {
  async 'openapi-typescript'(file, out) {
    const { astToString, default: openapiTS } = await import('openapi-typescript')
    const text = readFileSync(file, 'utf8')
    const read: (text: string) => unknown = file.endsWith('.json') ? JSON.parse : load
    const document = read(text) as Parameters<typeof openapiTS>[0]
    writeFileSync(join(out, 'types.ts'), astToString(await openapiTS(document, { silent: true })))
  },
  async 'hey-api'(file, out) {
    const { createClient } = await import('@hey-api/openapi-ts')
    await createClient({ input: file, output: out, logs: { file: false, level: 'silent' } })
  },
  async orval(file, out) {
    const { generate } = await import('orval')
    await generate({ input: file, output: { target: join(out, 'api.ts'), client: 'fetch' } })
  },
}

const [name = '', folder = '', target = ''] = process.argv.slice(2)
for (const file of readdirSync(folder)) {
  const out = resolve(target, basename(file, extname(file)))
  mkdirSync(out, { recursive: true })
  await GENERATORS[name]!(resolve(folder, file), out)
}
