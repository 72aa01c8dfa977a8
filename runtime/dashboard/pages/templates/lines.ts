/** Texts of a form with one entry on each line. */

/** Writes lines in the form `key = value`. */
export function writeLines(entries: readonly (readonly [key: string, value: string])[]): string {
  return entries.map(([key, value]) => `${key} = ${escapeLine(value)}`).join('\n')
}

const escapeLine = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r')
const LINE_ESCAPES: Readonly<Record<string, string>> = { '\\n': '\n', '\\r': '\r', '\\\\': '\\' }
const unescapeLine = (text: string) => text.replaceAll(/\\[nr\\]/g, (each) => LINE_ESCAPES[each]!)

/** Reads lines in the form `key = value`. */
export function readLines(text: string): (readonly [key: string, value: string])[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  return lines.map((line) => {
    const [key = '', ...rest] = line.split('=')
    return [key.trim(), unescapeLine(rest.join('=').trim())]
  })
}

export type TextsByLanguage = Readonly<Record<string, Readonly<Record<string, string | null | undefined>>>>

/** Writes lines in the form `language.name = text`. */
export function writeTranslations(translations: TextsByLanguage): string {
  return writeLines(
    Object.entries(translations).flatMap(([language, texts]) =>
      Object.entries(texts).map(([name, text]) => [`${language}.${name}`, text ?? ''] as const),
    ),
  )
}

/** Reads lines in the form `language.name = text`. */
export function readTranslations(lines: string): Record<string, Record<string, string>> {
  const read: Record<string, Record<string, string>> = {}
  for (const [path, text] of readLines(lines)) {
    const [language = '', name = ''] = path.split('.')
    read[language] = { ...read[language], [name]: text }
  }
  return read
}
