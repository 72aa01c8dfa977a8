/** Finds the name of a version in documents, in code and in paths. */
import { basename, dirname, extname, join } from 'node:path'
import { isPair, isScalar, type Pair, parseDocument, type Scalar, visit } from 'yaml'

/** Returns whether a text without spaces contains the version as a separate word. */
export function namesVersion(text: string, version: string): boolean {
  return version !== '' && !/\s/.test(text) && wordOf(version).test(text)
}

/** Matches a version as a separate word. */
export function wordOf(version: string): RegExp {
  const escaped = version.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  // A full stop ends the word if it ends the sentence.
  return new RegExp(`(?<![\\w.-])${escaped}(?![\\w-]|\\.\\w)`)
}

/** A string value of a document, between two offsets of its text. */
export interface DocumentString {
  readonly value: string
  /** The nearest key above, skipping lists. */
  readonly key: string
  readonly start: number
  readonly end: number
}

/** Returns the string values of a document in YAML or JSON, without its keys and references to other files. */
export function stringsIn(text: string): DocumentString[] {
  const found: DocumentString[] = []
  visit(parseDocument(text, { keepSourceTokens: true }), {
    Scalar(_, node, path) {
      const { value, range } = node
      if (typeof value !== 'string' || !range || isKey(node, path)) return
      const key = keyAbove(path)
      if (key === '$ref' && !value.startsWith('#')) return
      found.push({ value, key, start: range[0], end: range[1] })
    },
  })
  return found
}

/** Returns whether a string is prose, in which a version is part of a sentence. */
export const isProse = ({ key }: DocumentString): boolean => /^(description|summary|title)$/.test(key)

type YamlPath = readonly unknown[]

const isKey = (node: Scalar, path: YamlPath): boolean => {
  const parent = path.at(-1)
  return isPair(parent) && (parent as Pair).key === node
}

function keyAbove(path: YamlPath): string {
  const pair = path.findLast((each) => isPair(each)) as Pair | undefined
  return isScalar(pair?.key) ? String(pair.key.value) : ''
}

/** A part of a text and its replacement. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** @param splices in the order of the text. */
export function splice(text: string, splices: readonly Splice[]): string {
  return splices.reduceRight(
    (all, { start, end, text: by }) => all.slice(0, start) + by + all.slice(end),
    text,
  )
}

/**
 * `openapi/2026-05-19.yaml` → `openapi/2026-09-01.yaml`. Returns undefined if the file name does not contain the version.
 */
export function documentFor(file: string, before: string, version: string): string | undefined {
  const name = basename(file)
  const named = before !== '' && basename(name, extname(name)).includes(before)
  return named ? join(dirname(file), name.replace(before, version)) : undefined
}

/** Replaces a version in the paths that a module imports, in the form `<out>/<version>/types.ts`. */
export function renameInImports(text: string, before: string, version: string): string {
  return text.replaceAll(
    /(\b(?:from|import)\b\s*\(?\s*)(['"])([^'"\n]+)\2/g,
    (_, start: string, quote: string, path: string) => {
      const renamed = path.split('/').map((each) => (each === before ? version : each))
      return `${start}${quote}${renamed.join('/')}${quote}`
    },
  )
}
