/** What the configuration says of the client package. */

/** `client` in the configuration file. */
export interface ClientConfig {
  /** Goes into package.json as it is: `name`, `version`, `license`, … */
  readonly package: Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string }
  /** The oldest version whose lists can be walked with `for await`; all of them when absent. */
  readonly walkSince?: string
  /** For the README: what a bundle weighs with one import of it, in kilobytes of gzip. */
  readonly weights?: Readonly<Record<string, number>>
}
