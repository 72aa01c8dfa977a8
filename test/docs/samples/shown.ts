/** The sample requests of the reference pages, in all languages. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { ROOT } from '../../support/programs.ts'

export const SITE = join(ROOT, 'generated/site')

const LANGUAGES = ['curl', 'TypeScript', 'Python', 'Go', 'Ruby', 'PHP', 'Java', 'C#'] as const
type Name = (typeof LANGUAGES)[number]

export interface Shown {
  /** `2026-05-19/passes.html 3`: the third request of the page. */
  readonly where: string
  readonly texts: Readonly<Record<Name, string>>
}

const SAMPLE =
  /<details class="sample" data-language="([^"]+)"[^>]*>\n<summary>[^<]*<\/summary>\n<pre><code>([\s\S]*?)<\/code><\/pre>/g

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'" }

function textOf(html: string): string {
  return html
    .replace(/<\/?\w[^>]*>/g, '')
    .replace(/&([#\w]+);/g, (whole, name: string) => ENTITIES[name] ?? expect.fail(`what is ${whole}?`))
}

/** @param page the HTML of a page. @returns a map from language to text for each operation. */
export function samplesIn(page: string): Map<string, string>[] {
  const found: Map<string, string>[] = []
  for (const [, language = '', code = ''] of page.matchAll(SAMPLE)) {
    if (language === LANGUAGES[0]) found.push(new Map())
    found.at(-1)!.set(textOf(language), textOf(code))
  }
  return found
}

/** Requests of all pages; what several show alike is there once. */
export function readPages(): Shown[] {
  const found = new Map<string, Shown>()
  for (const file of globSync('**/*.html', { cwd: SITE }).toSorted())
    for (const texts of samplesIn(readFileSync(join(SITE, file), 'utf8'))) {
      expect([...texts.keys()]).toEqual(LANGUAGES)
      const where = `${file} ${found.size}`
      found.set(texts.get('curl')!, { where, texts: Object.fromEntries(texts) as Shown['texts'] })
    }
  return [...found.values()]
}
