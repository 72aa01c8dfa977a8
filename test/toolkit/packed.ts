/** The packed toolkit, as strangers install it. */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { builtOnce } from '../support/built-once.ts'

const isSource = (path: string) => !/node_modules$/.test(path)

/** @returns the tarball that `npm pack` makes of the toolkit. */
export function pack(): string {
  const generators = globSync('generators/**', {
    exclude: ({ name }) => !isSource(name),
    withFileTypes: true,
  })
  const sources = generators.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name))
  const folder = builtOnce('packed', [...sources, ...BESIDE, 'package-lock.json'], packInto)
  return join(folder, TARBALL)
}

const BESIDE = ['LICENSE', 'tsconfig.json']
const TARBALL = 'dateline.tgz'

/** Packs a copy, since packing replaces the manifest meanwhile. The copy runs TypeScript, so it is not in `node_modules`. */
function packInto(folder: string): void {
  const copy = mkdtempSync(join(tmpdir(), 'dateline-packed-'))
  cpSync('generators', join(copy, 'generators'), { recursive: true, filter: isSource })
  for (const name of BESIDE) cpSync(name, join(copy, name))
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)
  const words = ['pack', '--silent', '--pack-destination', folder]
  const workflow = { GITHUB_SERVER_URL: 'https://git.test', GITHUB_REPOSITORY: 'library/dateline' }
  const env = { ...process.env, ...workflow, PATH }
  const options = { cwd: join(copy, 'generators'), env, encoding: 'utf8' } as const
  const name = execFileSync('npm', words, options).trim().split('\n').at(-1)!
  renameSync(join(folder, name), join(folder, TARBALL))
  rmSync(copy, { recursive: true })
}

/** Unpacks the tarball where npm would, and links the packages that its manifest and the projects name. */
export function install(tarball: string, root: string): void {
  const dateline = join(root, 'node_modules/dateline')
  mkdirSync(dateline, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', dateline, '--strip-components=1'])
  const { dependencies } = JSON.parse(readFileSync(join(dateline, 'package.json'), 'utf8'))
  for (const name of [
    ...Object.keys(dependencies),
    'express',
    'fastify',
    'hono',
    'vitest',
    '@types/node',
    '@types/express',
  ]) {
    const link = join(root, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    const nested = resolve('generators/node_modules', name)
    symlinkSync(existsSync(nested) ? nested : resolve('node_modules', name), link)
  }
}
