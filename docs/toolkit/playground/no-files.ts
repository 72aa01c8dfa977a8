/** In place of `node:fs` and `node:path` in the browser: there are no files, so references to other files are unresolvable. */

export const existsSync = (_file: string): boolean => false

export function readFileSync(file: string): never {
  throw Object.assign(new Error(`${file} cannot be read in a browser`), { code: 'ENOENT' })
}

export const dirname = (file: string): string => file.replace(/\/?[^/]*$/, '') || '.'

export const join = (...parts: readonly string[]): string => parts.join('/').replace(/^\.\//, '')

export const relative = (_from: string, to: string): string => to

export const isAbsolute = (file: string): boolean => file.startsWith('/')

export const resolve = (...parts: readonly string[]): string => join(...parts)

export const sep = '/'
