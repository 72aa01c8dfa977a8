/** `npm run docs:toolkit` writes the generated pages and the site. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { REFERENCES } from './references.ts'
import { buildSite } from './site.ts'

const { values } = parseArgs({ options: { out: { type: 'string', default: '.cache/toolkit-docs' } } })

for (const [path, print] of Object.entries(REFERENCES)) writeFileSync(`docs/toolkit/${path}`, print())
rmSync(values.out, { recursive: true, force: true })
for (const { path, text } of await buildSite()) {
  const file = join(values.out, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
console.log(join(values.out, 'index.html'))
