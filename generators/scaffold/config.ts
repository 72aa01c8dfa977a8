/** `stub` in the configuration: the files that a new operation needs, and their templates. */

export interface StubFile {
  /** Name of a Handlebars template in the folder of templates, without `.hbs`. */
  readonly template: string
  /** Path relative to the configuration's folder; may contain template expressions. */
  readonly file: string
  /** Only create the file if an operation of this kind is added, for example `create`. */
  readonly for?: string
  /** Whether to merge into an existing file; otherwise an existing file is kept. */
  readonly merge?: boolean
  /** An object in the file; members named after added operations are removed from it. */
  readonly without?: string
}

export interface StubConfig {
  /** Folder of Handlebars templates. */
  readonly templates: string
  /** The files to create for an operation. */
  readonly files: readonly StubFile[]
  /** Formatter command; the paths of the written files are appended. */
  readonly format?: readonly string[]
}

/** Returns what is wrong with the configuration, or undefined. */
export function findStubFault(raw: unknown): string | undefined {
  const { templates, files, format } = raw as Readonly<Record<string, unknown>>
  if (typeof templates !== 'string') return '`stub.templates` is missing: expected the folder of templates'
  if (!Array.isArray(files)) return '`stub.files` is missing or not a list'
  const bad = files.findIndex((each) => typeof each?.template !== 'string' || typeof each?.file !== 'string')
  if (bad !== -1) return `\`stub.files[${bad}]\` needs \`template\` and \`file\``
  if (format === undefined || (Array.isArray(format) && format.length > 0)) return undefined
  return '`stub.format` is not a command: expected a nonempty list of strings'
}
