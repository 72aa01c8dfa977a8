/** The language in which the holder page speaks, and that in which it shows the texts of the pass. */
import { DEFAULT_LANGUAGE, languageOf, languagesOf } from '../languages.ts'
import type { PassState } from '../pass-state.ts'
import { type PageLanguage, PHRASES, type Phrase } from './phrases.ts'

export interface Voice {
  readonly language: PageLanguage
  /** Returns a text of the page. @param values by the names of its placeholders. */
  say(phrase: Phrase, values?: Readonly<Record<string, string>>): string
  /** Formats a time for readers in any time zone, so it names the zone. */
  showInstant(ms: number): string
}

/** Language, script and region of a BCP 47 tag (RFC 5646, 2.1). The page ignores the rest. */
const TAG = /^[a-z]{2,3}(-[a-z]{4})?(-(?:[a-z]{2}|\d{3}))?(?=-|$)/i

/** Longer headers are cut, because each name takes part in a comparison. */
const MAX_HEADER = 500

/** Reads Accept-Language (RFC 9110, 12.5.4): language tags, the preferred one first. Other names are ignored. */
export function readWanted(header: string | undefined): readonly string[] {
  const wanted = (header ?? '').slice(0, MAX_HEADER).split(',')
  return wanted
    .flatMap((each) => {
      const [name = '', ...parameters] = each.split(';').map((part) => part.trim())
      const weight = Number(parameters.find((part) => /^q=/i.test(part))?.slice(2) ?? 1)
      const [tag] = TAG.exec(name) ?? []
      return tag !== undefined && weight > 0 ? [{ tag, weight }] : []
    })
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag)
}

/**
 * Returns the first wanted language that is available (RFC 4647, 3.4), and the tag that asked for it. `de-AT` also finds
 * `de`, and `pt` also finds `pt-BR`.
 */
export function matchLanguage<Tag extends string>(
  wanted: readonly string[],
  available: readonly Tag[],
): { readonly tag: Tag; readonly wanted: string } | undefined {
  for (const each of wanted) {
    const parts = each.toLowerCase().split('-')
    for (let length = parts.length; length > 0; length -= 1) {
      const range = parts.slice(0, length).join('-')
      const is = (tag: string) => `${tag.toLowerCase()}-`.startsWith(`${range}-`)
      const tag = available.find((one) => one.toLowerCase() === range) ?? available.find(is)
      if (tag !== undefined) return { tag, wanted: each }
    }
  }
  return undefined
}

const LANGUAGES = Object.keys(PHRASES) as PageLanguage[]

/** English dates without a wish for a region. */
const LOCALES: Readonly<Partial<Record<PageLanguage, string>>> = { en: 'en-GB' }

/** Creates the voice of the first wanted language that the page speaks. @param own the language of the pass. */
export function createVoice(wanted: readonly string[], own = DEFAULT_LANGUAGE): Voice {
  const found = matchLanguage([...wanted, own], LANGUAGES)
  const language = found?.tag ?? DEFAULT_LANGUAGE
  const locale = found?.wanted.includes('-') ? found.wanted : (LOCALES[language] ?? language)
  const phrases = PHRASES[language]
  return {
    language,
    say: (phrase, values = {}) => phrases[phrase].replace(/\{(\w+)\}/g, (_, name: string) => values[name]!),
    showInstant: (ms) =>
      `${new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(ms)} UTC`,
  }
}

/** The voice for callers without a holder, such as the preview of a template. */
export const ENGLISH = createVoice([])

/** Returns the language in which to show the texts of the pass: the first wanted one, or its own. */
export function textLanguageOf(state: PassState, wanted: readonly string[]): string {
  const { translations = {}, images = {} } = state.options ?? {}
  const translated = [translations, images].flatMap((each) => Object.keys(each))
  const own = languageOf(state)
  return matchLanguage(wanted, [own, ...translated, ...languagesOf(state.fields)])?.tag ?? own
}

/** Scripts that are written from right to left (Unicode Script property, in use today). */
const RIGHT_TO_LEFT = new Set(['Adlm', 'Arab', 'Hebr', 'Nkoo', 'Rohg', 'Syrc', 'Thaa'])

/** Returns the writing direction of a language: that of its usual script, or of the script that its tag names. */
export function directionOf(language: string): 'ltr' | 'rtl' {
  const { script = '' } = new Intl.Locale(language).maximize()
  return RIGHT_TO_LEFT.has(script) ? 'rtl' : 'ltr'
}
