/** Hand-written pages and their files, from the folder that the configuration names. */
export interface PageSources {
  /** Page texts with their names, ordered by the numbers in their file names: `quick-start.md.hbs`. */
  readonly pages: readonly { readonly slug: string; readonly text: string }[]
  /** Files that pages can show or read, by path below the folder. */
  readonly files: Readonly<Record<string, string>>
}
