/** `stub` in the configuration: which files a new operation needs, and what they are made from. */

export interface StubFile {
  /** Name of a Handlebars template in the folder of templates, without `.hbs`. */
  readonly template: string
  /** Path from the configuration's folder, itself a template. */
  readonly file: string
  /** Needed only when an operation of this kind is among those that are added, `create` for example. */
  readonly for?: string
  /** Whether it is added to what stands in the file; otherwise a file that exists is left alone. */
  readonly merge?: boolean
  /** An object in the file that loses the members named after the operations that are added. */
  readonly without?: string
}

export interface StubConfig {
  /** Folder of the templates. */
  readonly templates: string
  readonly files: readonly StubFile[]
  /** The command that formats; the files that were written follow it. */
  readonly format?: readonly string[]
}

/** @returns what is wrong with it, if anything is. */
export function findStubFault(raw: unknown): string | undefined {
  const { templates, files, format } = raw as Readonly<Record<string, unknown>>
  if (typeof templates !== 'string') return '`stub` names no folder of `templates`'
  if (!Array.isArray(files)) return '`stub` has no list of `files`'
  const bad = files.findIndex((each) => typeof each?.template !== 'string' || typeof each?.file !== 'string')
  if (bad !== -1) return `\`stub.files[${bad}]\` has no \`template\` or no \`file\``
  if (format === undefined || (Array.isArray(format) && format.length > 0)) return undefined
  return '`stub.format` is no command'
}
