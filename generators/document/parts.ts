/** Finds the files that a document consists of: those that its references name, directly or indirectly. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { ReferenceFault } from './references.ts'

/** Folders with copies of what URLs return, by the beginning of the URLs: `{ 'https://example.com/schemas/': 'vendor' }`. */
export type RemoteReferences = Readonly<Record<string, string>>

/** The quotes, if any, are the same on both sides, and a plain YAML scalar ends before white space. */
const REFERENCE =
  /\$ref["']?[ \t]*:[ \t\r\n]*(?:"((?!#)[^"\n]+)"|'((?!#)[^'\n]+)'|((?!["'#&*!|>{[])[^ \t\r\n,}\]]+))/g

/**
 * Returns the addresses of all references in a text to other files, without their fragments.
 *
 * Only these are followed. So the files that a document consists of are known from texts alone, and the cache can
 * compare them without parsing a document.
 */
export function addressesIn(text: string): ReadonlySet<string> {
  const found = new Set<string>()
  for (const [, double, single, plain] of text.matchAll(REFERENCE))
    found.add((double?.replaceAll('\\/', '/') ?? single ?? plain!).replace(/#.*$/s, ''))
  return found
}

/** Returns all parts of some documents, other than the documents themselves, in the order of their names. */
export function findParts(documents: readonly string[], remote: RemoteReferences = {}): string[] {
  const known = new Set(documents)
  const waiting = documents.map((file) => ({ file, document: file }))
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { file, document } = next
    if (!existsSync(file)) continue
    // Most files refer to no other, and Latin-1 takes an eighth of the time of UTF-8.
    for (const address of addressesIn(readFileSync(file, 'latin1'))) {
      const part = fileOf(Buffer.from(address, 'latin1').toString(), file, document, remote)
      if (typeof part !== 'string' || known.has(part)) continue
      known.add(part)
      waiting.push({ file: part, document })
    }
  }
  return [...known].filter((file) => !documents.includes(file)).sort()
}

/**
 * Returns the file that an address names.
 *
 * @param address of a reference, without its fragment: a path relative to the file, or a URL.
 * @param from the file that holds the reference.
 * @param document the document that the file belongs to: its folder, and the repository or working directory around it,
 * bound what it can refer to.
 */
export function fileOf(
  address: string,
  from: string,
  document: string,
  remote: RemoteReferences,
): string | ReferenceFault {
  if (/^[a-z][a-z\d+.-]+:/i.test(address)) return copyOf(address, remote)
  const file = join(dirname(from), decoded(address))
  return isWithin(rootOf(document), file)
    ? file
    : {
        code: 'ref-outside',
        message: `${address} is outside the project, ${rootOf(document)}`,
        hint: 'move the file into the project',
      }
}

function copyOf(url: string, remote: RemoteReferences): string | ReferenceFault {
  const prefix = Object.keys(remote)
    .filter((each) => url.startsWith(each))
    .sort((a, b) => b.length - a.length)[0]
  const copy = prefix === undefined ? undefined : join(remote[prefix]!, decoded(url.slice(prefix.length)))
  if (copy !== undefined && isWithin(remote[prefix!]!, copy)) return copy
  const isUrl = /^https?:\/\/./.test(url)
  return {
    code: 'ref-remote',
    message: `${url} is ${isUrl ? 'a URL, and nothing is downloaded' : 'not the path of a file'}`,
    hint: isUrl
      ? `store a copy, for example with \`curl -o vendor/${url.split('/').at(-1)} ${url}\`, and refer to it, or set \`"remoteReferences": { "${new URL('.', url).href}": "./vendor" }\` in the configuration`
      : 'refer to a file',
  }
}

function decoded(address: string): string {
  try {
    return decodeURIComponent(address.replace(/\?.*$/, ''))
  } catch {
    return address
  }
}

const isWithin = (folder: string, file: string): boolean => {
  const way = relative(folder, file)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

const roots = new Map<string, string>()

/** Returns the repository around a document; without one, the working directory, or the folder of a document outside it. */
function rootOf(document: string): string {
  const folder = resolve(dirname(document))
  const known = roots.get(folder)
  if (known !== undefined) return known
  let at = folder
  while (!existsSync(join(at, '.git')) && at !== dirname(at)) at = dirname(at)
  const outer = at === dirname(at) ? (isWithin('.', folder) ? '.' : folder) : at
  const root = relative('.', outer) || '.'
  roots.set(folder, root)
  return root
}
