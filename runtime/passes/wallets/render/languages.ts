/** The languages of a pass: its texts, and their translations. */
import type { PassField, PassState } from './pass-state.ts'

/** The language of templates that name none. */
export const DEFAULT_LANGUAGE = 'en'

/** TextByLanguage of one text, by BCP 47 language tag. */
export type TextByLanguage = Readonly<Record<string, string>>

type Spoken = Pick<PassState, 'name' | 'brand' | 'fields' | 'locations' | 'options' | 'messages'>

/** Returns the language of the texts that are not translations. */
export function languageOf({ options }: Pick<PassState, 'options'>): string {
  return options?.language ?? DEFAULT_LANGUAGE
}

/** Returns the translations of one text, from the translations of several texts. */
export function translationsOf<Name extends string>(
  translations: Readonly<Record<string, { readonly [Each in Name]?: string }>> | undefined,
  name: Name,
): TextByLanguage {
  const entries = Object.entries(translations ?? {}).map(([language, texts]) => [language, texts[name]])
  return Object.fromEntries(entries.filter(([, text]) => text !== undefined))
}

/** Returns each text that has translations, with these. Apple Wallet shows only the newest message, or the introduction. */
function translatedTexts({ name, brand, fields, locations, options, messages = [] }: Spoken) {
  const texts: [text: string | undefined, translations: TextByLanguage | undefined][] = [
    [name, translationsOf(options?.translations, 'name')],
    [brand.logo_text, translationsOf(options?.translations, 'logo_text')],
    ...fields.flatMap(({ label, value, change_message, translations }): typeof texts => [
      [label, translationsOf(translations, 'label')],
      [value, translationsOf(translations, 'value')],
      [change_message, translationsOf(translations, 'change_message')],
    ]),
    ...locations.map(({ relevant_text, translations }): (typeof texts)[number] => [
      relevant_text,
      translations,
    ]),
    ...[messages[0] ?? options?.message_introduction ?? []]
      .flat()
      .flatMap(({ header, body, translations }): typeof texts => [
        [header, translationsOf(translations, 'header')],
        [body, translationsOf(translations, 'body')],
      ]),
  ]
  return texts.flatMap(([text, translations = {}]) =>
    text && Object.keys(translations).length > 0 ? [{ text, translations }] : [],
  )
}

/**
 * Returns the translation of each text, by language. If there are any, the language of the pass itself has an entry too:
 * a phone in this language must not select a translation. If equal texts have different translations, the first one
 * counts, because Apple Wallet looks translations up by the text.
 */
export function stringsOf(pass: Spoken): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const own = languageOf(pass)
  const all = new Map<string, Map<string, string>>()
  for (const { text, translations } of translatedTexts(pass)) {
    for (const [language, translation] of [[own, text], ...Object.entries(translations)] as const) {
      const strings = all.get(language) ?? new Map<string, string>()
      if (!strings.has(text)) all.set(language, strings.set(text, translation))
    }
  }
  return all
}

/** Returns a field in a language. Texts without a translation stay as they are. */
export function fieldIn({ translations, ...field }: PassField, language: string): PassField {
  return { ...field, ...translations?.[language] }
}

/** Returns the languages for which any of the fields has a translation. */
export function languagesOf(fields: readonly PassField[]): string[] {
  return [...new Set(fields.flatMap(({ translations }) => Object.keys(translations ?? {})))]
}

/** Returns the pass as a holder with this language sees it. */
export function passIn<Pass extends Spoken>(pass: Pass, language: string): Pass {
  const { name = pass.name, logo_text } = pass.options?.translations?.[language] ?? {}
  return {
    ...pass,
    name,
    brand: {
      ...pass.brand,
      ...(logo_text !== undefined && { logo_text }),
      ...pass.options?.images?.[language],
    },
    fields: pass.fields.map((field) => fieldIn(field, language)),
  }
}
