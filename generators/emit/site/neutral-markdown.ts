/** Escapes HTML and unsafe links in Markdown, for renderers that accept HTML. */

/** Matches fenced code blocks and inline code, which are shown literally (CommonMark 0.31, 4.5 and 6.1). */
const CODE =
  /^[ \t]*(`{3,}|~{3,})[^\n`]*\n(?:[\s\S]*?\n)??[ \t]*\1[`~]*[ \t]*$|(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n)[\s\S])*?[^`]\2(?!`)/gm

/** Matches the start of an element, a comment, or a link in angle brackets. */
const ELEMENT = /<(?=[a-z/!?])/gi

/** Matches link targets other than the web, mail addresses, and paths within the documentation. */
const TARGET = /\](\(|:)(?!\s*<?(?:https?:\/\/|mailto:|#|\/(?!\/)))/gi

/**
 * Escapes text that a renderer could interpret as HTML or as a script link, except in code, because texts from a
 * document may contain both.
 *
 * @returns Markdown that renders the same otherwise.
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
