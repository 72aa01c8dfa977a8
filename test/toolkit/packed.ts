/** The packed toolkit, as strangers install it. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'

/**
 * Packs a copy, since packing replaces the manifest meanwhile.
 *
 * @returns the tarball, in the folder
 */
export function pack(root: string): string {
  const copy = join(root, 'copy')
  cpSync('generators', join(copy, 'generators'), {
    recursive: true,
    filter: (path) => !/node_modules$/.test(path),
  })
  for (const name of ['LICENSE', 'tsconfig.json']) cpSync(name, join(copy, name))
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)
  const words = ['pack', '--silent', '--pack-destination', root]
  const workflow = { GITHUB_SERVER_URL: 'https://git.test', GITHUB_REPOSITORY: 'library/dateline' }
  const env = { ...process.env, ...workflow, PATH }
  const options = { cwd: join(copy, 'generators'), env, encoding: 'utf8' } as const
  return join(root, execFileSync('npm', words, options).trim().split('\n').at(-1)!)
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
