/** Configuration of the client package. */

import type { Api } from '../../ir/model.ts'

export interface ClientConfig {
  /** Copied into package.json: `name`, `version`, `license`, … */
  readonly package: Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string }
  /** The oldest version whose lists support `for await`; if absent, all versions do. */
  readonly walkSince?: string
  /** Whether each version has options for TanStack Query: `<version>/react-query`. */
  readonly reactQuery?: boolean
  /** Whether each version has a mock for the tests of programs that use it: `<version>/testing`. */
  readonly testing?: boolean
  /** Whether a package of several versions has a command that upgrades programs; by default `true`. */
  readonly upgrade?: boolean
  /** Bundle sizes for the README, by import: kilobytes after gzip. */
  readonly weights?: Readonly<Record<string, number>>
}

/** Returns whether the package has a command that upgrades programs. */
export const hasUpgrade = (apis: readonly Api[], { upgrade = true }: ClientConfig): boolean =>
  upgrade && apis.length > 1
