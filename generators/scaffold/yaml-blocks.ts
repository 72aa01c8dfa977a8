/** Copies and inserts blocks of a YAML text; the rest of the text stays unchanged. */
import {
  type Document,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  stringify,
  visit,
} from 'yaml'

export type PathKey = string | number

export interface Insertion {
  readonly at: number
  readonly text: string
}

/** Returns the new value of a scalar, or undefined to keep it. */
export type ScalarEdit = (value: unknown, path: readonly PathKey[], isKey: boolean) => unknown

export class YamlText {
  readonly text: string
  private readonly document: Document.Parsed

  constructor(text: string) {
    this.text = text
    this.document = parseDocument(text, { keepSourceTokens: true })
  }

  /** Returns the plain value at a path, or undefined if there is none. */
  value(path: readonly PathKey[]): unknown {
    const node = this.document.getIn(path, true)
    return isMap(node) || isSeq(node) ? node.toJS(this.document) : isScalar(node) ? node.value : node
  }

  line(offset: number): number {
    return this.text.slice(0, offset).split('\n').length
  }

  /** Returns the range from the start of a member's line to the end of its last indented line. */
  range(path: readonly PathKey[]): { readonly start: number; readonly end: number } {
    const start = this.text.lastIndexOf('\n', this.offset(path)) + 1
    const depth = indentOf(this.text, start)
    let end = this.lineEnd(start)
    for (let at = end + 1; at < this.text.length; at = this.lineEnd(at) + 1) {
      const line = this.text.slice(at, this.lineEnd(at))
      if (line.trim() === '') continue
      // List items may have the same indentation as their key.
      const isItem = line.trimStart().startsWith('- ') && typeof path.at(-1) === 'string'
      const indent = indentOf(this.text, at)
      if (indent < depth || (indent === depth && !isItem)) break
      end = this.lineEnd(at)
    }
    return { start, end }
  }

  /**
   * Returns a copy of a member's lines with edits.
   *
   * @param edit called for each scalar, with absolute paths.
   * @param removed paths of members to leave out.
   */
  copy(path: readonly PathKey[], edit: ScalarEdit, removed: readonly (readonly PathKey[])[] = []): string {
    const { start, end } = this.range(path)
    const splices = removed.map((each) => {
      const range = this.range(each)
      return { start: range.start, end: range.end + 1, text: '' }
    })
    const within = (offset: number) => splices.some((each) => offset >= each.start && offset < each.end)
    visit(this.document, {
      Scalar: (_, node, ancestors) => {
        const [from, to] = node.range ?? [-1, -1]
        if (from < start || to > end + 1 || within(from)) return
        const isKey = isPair(ancestors.at(-1)) && (ancestors.at(-1) as Pair).key === node
        const value = edit(node.value, pathOf(ancestors), isKey)
        if (value === undefined || value === node.value) return
        const tail = this.text.slice(from, to).match(/\s*$/)?.[0] ?? ''
        splices.push({ start: from, end: to - tail.length, text: writeScalar(value, node) })
      },
    })
    splices.sort((a, b) => b.start - a.start)
    let copied = this.text.slice(start, end + 1)
    for (const splice of splices)
      copied = copied.slice(0, splice.start - start) + splice.text + copied.slice(splice.end - start)
    return copied.trimEnd()
  }

  /** Yields the path and value of every key with this name. */
  *find(name: string): Generator<{ readonly path: readonly PathKey[]; readonly node: Node }> {
    const found: { path: readonly PathKey[]; node: Node }[] = []
    visit(this.document, {
      Pair: (_, pair, ancestors) => {
        if (isScalar(pair.key) && pair.key.value === name && pair.value)
          found.push({ path: [...pathOf(ancestors), name], node: pair.value as Node })
      },
    })
    yield* found
  }

  /** Returns whether the list or map at a path is in flow style, with brackets. */
  isFlow(path: readonly PathKey[]): boolean {
    const node = this.document.getIn(path, true)
    return (isMap(node) || isSeq(node)) && node.flow === true
  }

  /** Returns the end offset of a scalar. */
  scalarEnd(path: readonly PathKey[]): number {
    const node = this.document.getIn(path, true)
    if (!isScalar(node) || !node.range) throw new Error(`no scalar at ${path.join('/')}`)
    return node.range[1]
  }

  private offset(path: readonly PathKey[]): number {
    const parent = this.document.getIn(path.slice(0, -1), true)
    const last = path.at(-1)!
    if (isMap(parent)) {
      const pair = parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(last))
      if (isScalar(pair?.key) && pair.key.range) return pair.key.range[0]
    }
    const item = isSeq(parent) ? (parent.items[Number(last)] as Node | undefined) : undefined
    if (item?.range) return item.range[0]
    throw new Error(`nothing at ${path.join('/')}`)
  }

  private lineEnd(offset: number): number {
    const end = this.text.indexOf('\n', offset)
    return end === -1 ? this.text.length : end
  }
}

/** Inserts texts at their offsets. Texts at the same offset keep their order. */
export function insertAll(text: string, insertions: readonly Insertion[]): string {
  return insertions
    .map((insertion, index) => ({ ...insertion, index }))
    .toSorted((a, b) => b.at - a.at || b.index - a.index)
    .reduce((all, { at, text: added }) => all.slice(0, at) + added + all.slice(at), text)
}

export function indent(text: string, by: number): string {
  return text.replaceAll(/^(?=.)/gm, ' '.repeat(by))
}

/** Formats a value as YAML in block style, without wrapping lines. */
export const writeYaml = (value: unknown): string => stringify(value, { lineWidth: 0 }).trimEnd()

function writeScalar(value: unknown, node: Scalar): string {
  if (typeof value !== 'string' || node.type !== 'QUOTE_DOUBLE') return writeYaml(value)
  return JSON.stringify(value)
}

function indentOf(text: string, start: number): number {
  return text.slice(start).match(/^ */)![0].length
}

/** Returns the path of a node: its keys and list indexes, including the key of the innermost pair. */
function pathOf(ancestors: readonly unknown[]): PathKey[] {
  const path: PathKey[] = []
  for (const [index, node] of ancestors.entries()) {
    if (isPair(node) && isScalar(node.key)) path.push(String(node.key.value))
    else if (isSeq(node)) {
      const next = ancestors[index + 1]
      const place = node.items.indexOf(next as Node)
      if (place !== -1) path.push(place)
    }
  }
  return path
}
