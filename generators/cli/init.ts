/** `init`: a new API with one version, ready to serve. `adopt`: the checks of versions for a service that exists. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { toolkitFolder } from '../cache/cache.ts'
import { adoptedFiles, type Framework, type StarterFile, starterFiles } from '../scaffold/starter.ts'
import { type CommandOutcome, UsageError } from './run.ts'
import { readSourceDocument, withVersion } from './source-document.ts'

const CONFIGURATION = 'dateline.config.json'

/** Today as a version, in UTC. */
const today = () => new Date().toISOString().slice(0, 10)

/**
 * Writes a new project into a folder. Files that exist stay as they are.
 *
 * @throws UsageError if the folder has a configuration
 */
export function init(
  folder: string,
  { framework, date = today() }: { readonly framework: Framework; readonly date?: string },
): CommandOutcome {
  requireNew(folder)
  const name = basename(resolve(folder))
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
  const stripsTypes = Boolean(process.features.typescript)
  const files = starterFiles({ name, version: date, framework, dateline: ownVersion(), stripsTypes })
  return writeStarter(folder, files, [
    `next: ${folder === '.' ? '' : `cd ${folder} && `}npm install && npm run generate && npm start`,
  ])
}

/**
 * Stores the document of a service as its first version, and writes the configuration that checks later ones.
 *
 * @param source a URL, a file or a command that returns the OpenAPI document
 * @throws UsageError if the folder has a configuration, or the source cannot be read
 */
export async function adopt(
  source: string,
  { date = today() }: { readonly date?: string },
): Promise<CommandOutcome> {
  requireNew('.')
  const { text, extension } = withVersion(await readSourceDocument(source), date)
  const document = { path: `openapi/${date}${extension}`, text }
  return writeStarter(
    '.',
    [document, ...adoptedFiles(source, date)],
    [
      'next: npx dateline generate, then commit the files; `dateline check` in CI compares the service with this version',
    ],
  )
}

function requireNew(folder: string): void {
  const file = join(folder, CONFIGURATION)
  if (existsSync(file))
    throw new UsageError(
      `${file} exists: this folder has versions already. Use \`new-version\` or \`freeze\`.`,
    )
}

function writeStarter(
  folder: string,
  files: readonly StarterFile[],
  next: readonly string[],
): CommandOutcome {
  const kept = files.filter(({ path }) => existsSync(join(folder, path)))
  const written = files.filter((file) => !kept.includes(file))
  for (const { path, text } of written) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return {
    lines: [
      ...written.map(({ path }) => `wrote ${join(folder, path)}`),
      ...kept.map(({ path }) => `kept ${join(folder, path)}, which exists: compare it with the README`),
      ...next,
    ],
    data: { written: written.map(({ path }) => path), kept: kept.map(({ path }) => path) },
  }
}

/** The manifest is next to the sources here, and above the compiled files in the published package. */
function ownVersion(): string {
  const own = toolkitFolder()
  const manifest = [join(own, 'package.json'), join(own, '../package.json')].find(existsSync)!
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}
