/** Lists of fixed members that forms offer by name: countries, states, and merchant categories. */
import { CATEGORIES, describeCategory } from '../../../cards/merchant-categories/catalogue.ts'
import { COUNTRIES, US_STATE_NAMES } from '../../../platform/countries.ts'
import type { FieldOptions, Match, Pickable } from '../../engine/shapes.ts'
import { PICK_LIMIT } from './pickable-queries.ts'

const byText = (one: readonly [string, string], other: readonly [string, string]) =>
  one[1].localeCompare(other[1])

const names = new Intl.DisplayNames('en', { type: 'region' })

/** Returns the name of a country, or the code if it is unknown. */
export const countryName = (code: string): string => names.of(code) ?? code

export const COUNTRY_OPTIONS = [...COUNTRIES]
  .map((code) => [code, countryName(code)] as const)
  .toSorted(byText) satisfies FieldOptions

export const US_STATE_OPTIONS = Object.entries(US_STATE_NAMES).toSorted(byText) satisfies FieldOptions

/** Finds members whose code begins with the text, or whose name contains every word of it. */
function listOf(path: string, noun: string, members: readonly Match[]): Pickable {
  const byId = new Map(members.map((member) => [member.id, member]))
  return {
    path,
    noun,
    find: async (_visit, text) => {
      const words = text.toLowerCase().split(/\s+/).filter(Boolean)
      return members
        .filter(({ id, name, about }) => {
          const said = `${name} ${about}`.toLowerCase()
          return id.toLowerCase().startsWith(text.toLowerCase()) || words.every((word) => said.includes(word))
        })
        .slice(0, PICK_LIMIT)
    },
    read: async (_visit, ids) => ids.flatMap((id) => byId.get(id) ?? []),
  }
}

export const COUNTRY = listOf(
  'countries',
  'country',
  COUNTRY_OPTIONS.map(([id, name]) => ({ id, name, about: id })),
)

export const CATEGORY = listOf(
  'merchant-categories',
  'merchant category',
  CATEGORIES.map((code) => ({ id: code, name: describeCategory(code), about: code })),
)
