/** Pages that people write, and the files that they show: a folder that the configuration names. */
export interface PageSources {
  /** Texts by name: `quick-start.md.hbs`, in the order of their numbers. */
  readonly pages: readonly { readonly slug: string; readonly text: string }[]
  /** What pages may show or read, by path below the folder. */
  readonly files: Readonly<Record<string, string>>
}
