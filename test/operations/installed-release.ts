/** A release of the service, unpacked from its tarball and ready to start. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { serviceTar } from '../../deploy/release/service-tar.ts'
import { type Program, ROOT, startProgram } from '../support/programs.ts'

interface Manifest {
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly scripts: Readonly<Record<string, string>>
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

export interface InstalledRelease {
  readonly ref: string
  start(env: Readonly<Record<string, string>>, words: readonly string[]): Program
  /** Runs the `admin` command, and returns its standard output. Throws if it fails. */
  admin(env: Readonly<Record<string, string>>, ...words: readonly string[]): Promise<string>
}

/** Unpacks the tarball of a commit into the folder, installs its packages, and builds the files that are not committed. */
export function installRelease(ref: string, folder: string): InstalledRelease {
  mkdirSync(folder)
  execFileSync('tar', ['-x', '-C', folder, '--strip-components=1'], { input: serviceTar(ref, 'service') })
  if (!linkPackages(folder)) {
    const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
    const options = { cwd: folder, env: { ...process.env, PATH }, stdio: 'ignore' } as const
    execFileSync('npm', ['ci', '--omit=dev'], options)
  }
  execFileSync(process.execPath, ['generators/cli.ts', 'build'], { cwd: folder, stdio: 'ignore' })
  const start = readManifest(folder)
    .scripts.start!.replace(/^exec (env \S+ )?node /, '')
    .split(' ')
  const run = (env: Readonly<Record<string, string>>, words: readonly string[]) =>
    startProgram(process.execPath, words, env, { cwd: folder })
  return {
    ref,
    start: (env, words) => run(env, [...start, ...words]),
    admin: async (env, ...words) => {
      const { code, stdout, stderr } = await run(env, ['runtime/operator/command/admin.ts', ...words]).ended
      if (code !== 0) throw new Error(`admin ${words.join(' ')} of ${ref}: ${stderr}`)
      return stdout
    },
  }
}

/** Links the packages of this checkout if they have the versions that the release names. Returns whether they do. */
function linkPackages(folder: string): boolean {
  const [service, toolkit] = ['.', 'generators'].map((each) => readManifest(join(folder, each)))
  const { dateline: _, ...wanted } = { ...toolkit!.dependencies, ...service!.dependencies }
  const isHere = ([name, version]: readonly [string, string]) => {
    const here = join(ROOT, 'node_modules', name)
    return existsSync(here) && readManifest(here).version === version
  }
  if (!Object.entries(wanted).every(isHere)) return false
  const packages = join(folder, 'node_modules')
  mkdirSync(packages)
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (name !== 'dateline' && name !== '.cache')
      symlinkSync(join(ROOT, 'node_modules', name), join(packages, name))
  symlinkSync('../generators', join(packages, 'dateline'))
  return true
}
