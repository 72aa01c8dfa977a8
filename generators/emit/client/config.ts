/** Configuration of the client package. */

export interface ClientConfig {
  /** Copied into package.json: `name`, `version`, `license`, … */
  readonly package: Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string }
  /** The oldest version whose lists support `for await`; if absent, all versions do. */
  readonly walkSince?: string
  /** Whether each version has options for TanStack Query: `<version>/react-query`. */
  readonly reactQuery?: boolean
  /** Bundle sizes for the README, by import: kilobytes after gzip. */
  readonly weights?: Readonly<Record<string, number>>
}
