/** Checks that the output folder is separate from the sources that it is generated from. */
import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

/** Paths in the configuration, by their names there. */
export type NamedSources = readonly (readonly [name: string, path: string])[]

/**
 * Checks an output folder.
 *
 * @param versions the folder of changes, which the toolkit reads in full.
 * @returns what is wrong with the folder, or undefined if nothing is.
 */
export function findOutputFault(
  out: string,
  sources: NamedSources,
  versions: string | undefined,
): string | undefined {
  const folder = realPath(out)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    return `\`out\` names a file, ${out}`
  if (folder.split(sep).includes('.git') || existsSync(join(folder, '.git')))
    return `\`out\` names ${out}, which holds a Git repository`
  const held = sources.find(([, path]) => contains(folder, realPath(path)))
  if (held) return `\`out\` names ${out}, which holds ${held[0]}, ${held[1]}`
  if (versions !== undefined && contains(realPath(versions), folder))
    return `\`out\` names ${out}, inside \`versions\`, ${versions}`
  return undefined
}

function contains(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/**
 * Resolves links and the file system's letter case. For a path that does not exist, resolves its nearest existing
 * parent.
 */
function realPath(path: string): string {
  const whole = resolve(path)
  if (existsSync(whole)) return realpathSync.native(whole)
  return dirname(whole) === whole ? whole : join(realPath(dirname(whole)), basename(whole))
}
