/** `admin settings`: every setting, where its value comes from, and what it means. */
import { withSecretFiles } from '../platform/secret-files.ts'
import {
  isSecret,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type SettingVariables,
} from '../platform/setting-catalog.ts'

export interface ShownSetting {
  readonly name: SettingName
  /** The text of the value. Null if the setting is not set; `hidden` for a secret. */
  readonly value: string | null
  /** `variable`, the path of a file, or `default`. Null if the setting has no value. */
  readonly source: string | null
  readonly meaning: string
}

/** Lists the settings in the order of `docs/settings.md`. Values are not checked: `doctor` does that. */
export function listSettings(env: SettingVariables): { readonly data: readonly ShownSetting[] } {
  const { variables, files } = withSecretFiles(env)
  return {
    data: SETTING_NAMES.map((name) => {
      const { fallback, meaning } = SETTINGS[name]
      const value = variables[name] || undefined
      const source = value === undefined ? fallback && 'default' : (files.get(name) ?? 'variable')
      const shown = value !== undefined && isSecret(name) ? 'hidden' : (value ?? fallback)
      return { name, value: shown ?? null, source: source ?? null, meaning }
    }),
  }
}
