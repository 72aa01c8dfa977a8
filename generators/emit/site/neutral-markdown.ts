/** Markdown in which nothing runs: for readers that take HTML, unlike our own pages. */

/** Fenced blocks, and code within a line: what is in them is shown as it is (CommonMark 0.31, 4.5 and 6.1). */
const CODE =
  /^[ \t]*(`{3,}|~{3,})[^\n`]*\n(?:[\s\S]*?\n)??[ \t]*\1[`~]*[ \t]*$|(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n)[\s\S])*?[^`]\2(?!`)/gm

/** The start of an element, a comment or a link in angle brackets. */
const ELEMENT = /<(?=[a-z/!?])/gi

/** The target of a link that leads elsewhere than to the web, to mail or within the documentation. */
const TARGET = /\](\(|:)(?!\s*<?(?:https?:\/\/|mailto:|#|\/(?!\/)))/gi

/**
 * Escapes what a reader could take for HTML or for a link with a script, outside of code. Text of a document may hold both.
 *
 * @returns Markdown that reads the same.
 */
export function neutralise(markdown: string): string {
  let text = ''
  let at = 0
  for (const code of markdown.matchAll(CODE)) {
    text += escapeProse(markdown.slice(at, code.index)) + code[0]
    at = code.index + code[0].length
  }
  return text + escapeProse(markdown.slice(at))
}

const escapeProse = (text: string): string => text.replace(ELEMENT, '\\<').replace(TARGET, ']\\$1')
