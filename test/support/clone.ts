/** Clones of this checkout that need no registry: their packages are the ones installed here. */
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './programs.ts'

/** Fills a clone's `node_modules` as npm does, where the toolkit leads to the clone's own folder. */
export function linkPackages(clone: string, { withCaches }: { readonly withCaches: boolean }): void {
  const installed = join(ROOT, 'node_modules')
  const modules = join(clone, 'node_modules')
  mkdirSync(modules)
  for (const name of readdirSync(installed)) {
    if (name === 'dateline' || name === '.bin' || (name === '.cache' && !withCaches)) continue
    symlinkSync(join(installed, name), join(modules, name))
  }
  // npm links a workspace to the folder beside `node_modules`, and programs by relative paths.
  symlinkSync('../generators', join(modules, 'dateline'))
  cpSync(join(installed, '.bin'), join(modules, '.bin'), { recursive: true, verbatimSymlinks: true })
}
