/** Whether a folder may be written to: output never shares one with what it is made of. */
import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

/** What a configuration names, by what it is called there. */
export type NamedSources = readonly (readonly [name: string, path: string])[]

/**
 * @param versions the folder of changes, which is read as a whole.
 * @returns what is wrong with an output folder; undefined when nothing is.
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

/** Without links, in the case that the file system has; what does not exist yet is below what does. */
function realPath(path: string): string {
  const whole = resolve(path)
  if (existsSync(whole)) return realpathSync.native(whole)
  return dirname(whole) === whole ? whole : join(realPath(dirname(whole)), basename(whole))
}
