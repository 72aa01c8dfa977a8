/** Reads docstrings. */
import type { Node } from 'ts-morph'

export interface DocComment {
  /** Empty if there is none. */
  readonly description: string
  /** Texts of `@param` tags, each with the name: `` `value`: what the old version shows ``. */
  readonly parameters: readonly string[]
}

/** Returns the docstring above a declaration. */
export function commentOf(node: Node): DocComment {
  const comments = node.getLeadingCommentRanges().map((each) => each.getText())
  const text = comments.findLast((each) => each.startsWith('/**'))
  if (text === undefined) return { description: '', parameters: [] }
  const lines = text
    .slice('/**'.length, -'*/'.length)
    .split('\n')
    .map((line) => line.replace(/^\s*\*? ?/, '').trimEnd())
  const [description = '', ...tags] = lines.join('\n').split(/^@/m)
  return {
    description: description.trim().replace(/(?<!\n)\n(?!\n)/g, ' '),
    parameters: tags.flatMap((tag) => {
      const [, names, meaning] = /^param ((?:\w+, )*\w+) ([\s\S]+)$/.exec(tag.trim()) ?? []
      if (names === undefined || meaning === undefined) return []
      return [
        `${names
          .split(', ')
          .map((name) => `\`${name}\``)
          .join(', ')}: ${meaning.replace(/\s+/g, ' ')}`,
      ]
    }),
  }
}
