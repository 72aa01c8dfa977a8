/**
 * Breaks printed code into lines that are easy to review: each list item gets its own line. Adds only white space,
 * and only where JavaScript and TypeScript allow a line break: after a bracket or a separator, and before an
 * operator inside brackets.
 */

/** Maximum width of generated lines, in characters; only a longer word exceeds it. */
export const WIDTH = 160

const STEP = '  '

/** Returns the text with its long lines broken. A text without long lines is returned unchanged. */
export function wrapLines(text: string, width = WIDTH): string {
  if (!text.split('\n').some((line) => line.length > width)) return text
  return text
    .split('\n')
    .flatMap((line) => wrapLine(line, width))
    .join('\n')
}

function wrapLine(line: string, width: number): string[] {
  if (line.length <= width) return [line]
  if (/^\s*(?:\/\*\*|\*|\/\/)/.test(line)) return wrapComment(line, width)
  // A line with a trailing comment must not be broken.
  if (/\/[/*]/.test(withoutLiterals(line))) return [line]
  return wrapList(line, width) ?? wrapOperators(line, width) ?? [line]
}

/** Wraps a comment; each line gets the prefix of the first. A one-line comment becomes a block. */
function wrapComment(line: string, width: number): string[] {
  const [, indent = '', opening = '', rest = ''] = /^(\s*)(\/\*\*|\*|\/\/)\s?(.*)$/.exec(line) ?? []
  if (opening === '/**') {
    const closed = /^(.*?)\s*\*\/$/.exec(rest)
    if (!closed) return [line]
    return [`${indent}/**`, ...wrapComment(`${indent} * ${closed[1]}`, width), `${indent} */`]
  }
  const prefix = `${indent}${opening} `
  const lines: string[] = []
  let current = prefix.trimEnd()
  for (const word of rest.split(' ')) {
    // A line must not begin with a word that Markdown reads as a list item or a heading.
    const fits = current.length + 1 + word.length <= width
    if (fits || current === prefix.trimEnd() || /^(?:[-+*#>=|]|\d+[.)])/.test(word)) current += ` ${word}`
    else {
      lines.push(current)
      current = `${prefix}${word}`
    }
  }
  return [...lines, current]
}

/** An outermost pair of brackets, with the positions of the separators directly inside it. */
interface BracketPair {
  readonly open: number
  readonly close: number
  readonly separators: readonly number[]
}

/** Puts each item of the line's longest list on its own line. */
function wrapList(line: string, width: number): string[] | undefined {
  const indent = /^\s*/.exec(line)![0]
  const groups = groupsOf(line).filter(({ open, close }) => close - open > 2)
  const longest = groups.toSorted((a, b) => b.close - b.open - (a.close - a.open))[0]
  if (!longest || longest.close - longest.open < width / 4) return undefined
  const { open, close, separators } = innermost(line, longest)
  const ends = [...separators.map((at) => at + 1), close]
  const items = ends.map((end, index) => line.slice(index === 0 ? open + 1 : ends[index - 1], end).trim())
  const inside = items
    .filter((item) => item !== '')
    .flatMap((item) => wrapLine(`${indent}${STEP}${item}`, width))
  return [
    ...wrapLine(line.slice(0, open + 1), width),
    ...inside,
    ...wrapLine(`${indent}${line.slice(close)}`, width),
  ]
}

/** Returns the innermost of brackets that directly enclose each other, such as `new Set([`. */
function innermost(line: string, group: BracketPair): BracketPair {
  const start = group.open + 1
  const [only, ...others] = groupsOf(line.slice(start, group.close))
  if (!only || others.length > 0 || only.open > 0 || start + only.close + 1 < group.close) return group
  const moved = only.separators.map((at) => start + at)
  return innermost(line, { open: start + only.open, close: start + only.close, separators: moved })
}

/** Operators before which a line may break, loosest binding first. */
const OPERATORS = [' || ', ' && ', ' | ', ' & ']

function wrapOperators(line: string, width: number): string[] | undefined {
  const indent = /^\s*/.exec(line)![0]
  const outer = outerTextOf(line)
  const arrow = outer.indexOf(' => ', indent.length)
  if (arrow > 0)
    return [line.slice(0, arrow + 3), ...wrapLine(`${indent}${STEP}${line.slice(arrow + 4)}`, width)]
  const operator = OPERATORS.find((each) => outer.indexOf(each, indent.length) > 0)
  if (operator === undefined) return undefined
  const starts = [...outer.matchAll(new RegExp(operator.replaceAll('|', '\\|'), 'g'))].map(
    ({ index }) => index,
  )
  const first = line.slice(0, starts[0])
  const rest = starts.map((at, index) => `${indent}${STEP}${line.slice(at + 1, starts[index + 1])}`)
  return [...wrapLine(first, width), ...rest.flatMap((each) => wrapLine(each, width))]
}

/** Returns the outermost bracket pairs of a line. */
function groupsOf(line: string): BracketPair[] {
  const groups: BracketPair[] = []
  let depth = 0
  let open = 0
  let separators: number[] = []
  for (const [at, sign] of signsOf(line)) {
    if ('([{'.includes(sign)) {
      depth += 1
      if (depth > 1) continue
      open = at
      separators = []
    } else if (')]}'.includes(sign)) {
      depth -= 1
      if (depth < 0) return []
      if (depth === 0) groups.push({ open, close: at, separators })
    } else if (depth === 1 && (sign === ',' || sign === ';')) separators.push(at)
  }
  return depth === 0 ? groups : []
}

/** Masks literals and bracket contents of a line. */
function outerTextOf(line: string): string {
  const outer = withoutLiterals(line).split('')
  for (const { open, close } of groupsOf(line)) outer.fill('_', open, close + 1)
  return outer.join('')
}

const withoutLiterals = (line: string): string => line.replace(LITERAL, (text) => '_'.repeat(text.length))

/** Returns brackets and separators outside of literals. */
function signsOf(line: string): [number, string][] {
  const covered = literalsOf(line)
  const signs: [number, string][] = []
  let next = 0
  for (let at = 0; at < line.length; at++) {
    const literal = covered[next]
    if (literal && at === literal[0]) {
      at = literal[1] - 1
      next += 1
    } else if ('()[]{},;'.includes(line[at]!)) signs.push([at, line[at]!])
  }
  return signs
}

const LITERAL =
  /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<=(?:^|[=(,:![&|?{};]|return|=>)\s*)\/(?![/*])(?:[^/\\[]|\\.|\[(?:[^\]\\]|\\.)*\])+\/[a-z]*/g

/** Returns start and end of each string, template and regular expression. */
const literalsOf = (line: string): (readonly [number, number])[] =>
  [...line.matchAll(LITERAL)].map(({ index, 0: text }) => [index, index + text.length] as const)
