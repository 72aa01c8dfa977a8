// @ts-nocheck
/** The command line of a client package. */
import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { printDiff, printReport } from './report.ts'
import { emptyStep, useResources } from './resource-calls.ts'
import type { UpgradeManifest, UpgradeStep } from './rules.ts'
import { upgradeFile } from './step.ts'
import { stepsBetween, type UpgradeResult, upgradeProject } from './upgrade.ts'

/** Exit codes. */
const DONE = 0
const LEFT_TO_DO = 1
const REFUSED = 2
const UNREADABLE = 3

interface Output {
  out(text: string): void
  error(text: string): void
}

const OPTIONS = {
  project: { type: 'string', default: 'tsconfig.json' },
  'dry-run': { type: 'boolean', default: false },
  force: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

const helpOf = ({ package: name, versions }: UpgradeManifest): string => `\
npx ${name} upgrade FROM TO
npx ${name} resources VERSION

upgrade changes the source of a TypeScript program from one version of the API to a later one. What has a new name,
place or spelling is changed. What needs a decision gets a comment \`// upgrade <version>: …\`, and a line in the
report. The report begins with differences that the compiler does not see.

resources changes calls that take one object, such as \`client.getThing({ path: { id } })\`, into calls of methods of
resources, such as \`client.things.retrieve(id)\`.

Versions: ${versions.join(', ')}

  --project FILE  tsconfig.json of the program (default: tsconfig.json)
  --dry-run       prints the differences, and writes nothing
  --force         writes files with changes that Git does not have
  --json          prints the report as JSON
  -h, --help      prints this text

Exit codes: 0 nothing is left to do, 1 the report names places to look at, 2 refused, 3 the program cannot be read.
Needs ts-morph: npm install --save-dev ts-morph`

/** An end of the command, with its reason. */
class CommandEnd extends Error {
  readonly exit: number

  constructor(exit: number, message: string) {
    super(message)
    this.exit = exit
  }
}

/**
 * Runs the command.
 *
 * @param folder the folder that the program is in.
 * @returns the exit code.
 */
export async function run(
  argv: readonly string[],
  manifest: UpgradeManifest,
  folder: string,
  output: Output,
): Promise<number> {
  try {
    return await upgrade(argv, manifest, folder, output)
  } catch (error) {
    if (!(error instanceof CommandEnd)) throw error
    output.error(error.message)
    return error.exit
  }
}

async function upgrade(
  argv: readonly string[],
  manifest: UpgradeManifest,
  folder: string,
  output: Output,
): Promise<number> {
  const { values, positionals } = readArguments(argv)
  if (values.help) {
    output.out(helpOf(manifest))
    return DONE
  }
  const { steps, edit } = readTask(positionals, manifest)
  const { Project, ts } = await importMorph(folder)
  const tsConfigFilePath = resolve(folder, values.project)
  if (!existsSync(tsConfigFilePath))
    throw new CommandEnd(UNREADABLE, `there is no ${values.project} in ${folder}: name it with --project`)
  const project = openProject(Project, tsConfigFilePath)
  if (project.getSourceFiles().length === 0)
    throw new CommandEnd(
      UNREADABLE,
      `${values.project} has no source files: name the configuration that has them with --project`,
    )
  const result = upgradeProject(project, ts, manifest, steps, edit)
  const dry = values['dry-run']
  if (!dry && !values.force) refuseUnsaved(folder, result)
  if (!dry) for (const { path, after } of result.files) writeFileSync(path, after)
  const shown = (path: string) => relative(folder, path).replaceAll('\\', '/')
  if (values.json)
    output.out(JSON.stringify({ ...result, files: result.files.map(({ path }) => shown(path)) }, null, 2))
  else {
    if (dry) for (const file of result.files) output.out(printDiff(shown(file.path), file.before, file.after))
    output.out(printReport(result, steps, { package: manifest.package, written: !dry, shown }))
  }
  const left = result.silent.length + result.marked.length + result.errors.length
  return left > 0 ? LEFT_TO_DO : DONE
}

function readArguments(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new CommandEnd(REFUSED, error instanceof Error ? error.message : String(error))
  }
}

/** What a command does in a program. */
interface Task {
  readonly steps: readonly UpgradeStep[]
  readonly edit: typeof upgradeFile
}

function readTask([command, ...versions]: readonly string[], manifest: UpgradeManifest): Task {
  const { package: name } = manifest
  const wanted = { upgrade: 2, resources: 1 }[command ?? '']
  if (versions.length !== wanted)
    throw new CommandEnd(
      REFUSED,
      `usage: npx ${name} upgrade FROM TO, or npx ${name} resources VERSION (--help describes them)`,
    )
  const unknown = versions.find((version) => !manifest.versions.includes(version))
  if (unknown !== undefined)
    throw new CommandEnd(REFUSED, `${name} has no version ${unknown}: it has ${manifest.versions.join(', ')}`)
  const [from = '', to = from] = versions
  if (command === 'resources') return { steps: [emptyStep(from)], edit: useResources }
  const steps = stepsBetween(manifest, from, to)
  if (!steps) throw new CommandEnd(REFUSED, `${to} is not newer than ${from}`)
  return { steps, edit: upgradeFile }
}

/** Finds ts-morph in the project, or beside this package. */
async function importMorph(folder: string): Promise<typeof import('ts-morph')> {
  for (const from of [join(folder, 'package.json'), import.meta.url]) {
    try {
      const file = createRequire(from).resolve('ts-morph')
      const found = await import(pathToFileURL(file).href)
      return found.Project ? found : found.default
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw cause
    }
  }
  throw new CommandEnd(REFUSED, 'ts-morph is not installed: run `npm install --save-dev ts-morph`')
}

type Morph = typeof import('ts-morph')

function openProject(Project: Morph['Project'], tsConfigFilePath: string) {
  try {
    return new Project({ tsConfigFilePath })
  } catch (cause) {
    throw new CommandEnd(
      UNREADABLE,
      `${tsConfigFilePath} cannot be read: ${cause instanceof Error ? cause.message : cause}`,
    )
  }
}

/** @throws CommandEnd if Git could not bring back a file that would be written. */
function refuseUnsaved(folder: string, { files }: UpgradeResult): void {
  if (files.length === 0) return
  const force = 'or write them with --force (--dry-run only prints)'
  let status: string
  try {
    const args = ['status', '--porcelain', '--ignored', '--', ...files.map(({ path }) => path)]
    status = execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
  } catch {
    throw new CommandEnd(
      REFUSED,
      `nothing was written: the files are not in a Git repository, which could bring them back. Commit them to one, ${force}`,
    )
  }
  const unsaved = status.split('\n').filter((line) => line !== '')
  if (unsaved.length === 0) return
  const names = unsaved.map((line) => `  ${line.slice(3)}`).join('\n')
  throw new CommandEnd(
    REFUSED,
    `nothing was written: Git does not have the present state of\n${names}\nCommit them, ${force}`,
  )
}
