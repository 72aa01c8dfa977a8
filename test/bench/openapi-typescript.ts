/** openapi-typescript alone over the JSON documents of a folder: `node test/bench/openapi-typescript.ts FOLDER OUT`. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'

const [folder, out] = process.argv.slice(2) as [string, string]
mkdirSync(out, { recursive: true })
for (const name of readdirSync(folder)) {
  const document = JSON.parse(readFileSync(join(folder, name), 'utf8')) as OpenAPI3
  writeFileSync(join(out, `${name}.ts`), astToString(await openapiTS(document, { silent: true })))
}
