/** `new-resource NAME`: a resource in the newest document, made after a neighbour, and what comes next. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createReport } from '../diagnostics/diagnostic.ts'
import { parseText } from '../document/load.ts'
import type { OperationKind } from '../scaffold/resource-view.ts'
import { type CommandOutcome, type CommandRun, UsageError } from './run.ts'

export interface NewResourceOptions {
  readonly like: string
  readonly prefix: string
  readonly singular?: string
  readonly operations: string
  readonly events: string
  readonly properties?: string
  readonly scope?: string
  readonly rateLimit?: string
}

const KINDS: readonly string[] = ['create', 'list', 'get', 'update', 'archive']

/** @throws UsageError when the document has no room for it, or no neighbour to make it after. */
export async function newResource(
  run: CommandRun,
  name: string,
  options: NewResourceOptions,
): Promise<CommandOutcome> {
  const { config, report } = run
  const file = config.documents.at(-1)!
  const source = readFileSync(file, 'utf8')
  if (!/\.ya?ml$/.test(file)) throw new UsageError(`${file} is not written in YAML`)
  parseText(file, source, report, config.strict)
  report.finish()
  const operations = listOf(options.operations)
  const unknown = operations.find((kind) => !KINDS.includes(kind))
  if (unknown !== undefined) throw new UsageError(`${unknown} is none of ${KINDS.join(', ')}`)
  const singular = options.singular ?? singularOf(name)
  for (const text of [name, singular, options.prefix])
    if (!/^[a-z]+(_[a-z]+)*$/.test(text)) throw new UsageError(`${text} is not written like \`book_lists\``)
  const [{ addResource }, { ResourceError }] = await Promise.all([
    import('../scaffold/resource/add-resource.ts'),
    import('../scaffold/resource/request.ts'),
  ])
  try {
    const { text, blocks, lists } = addResource(source, {
      name,
      singular,
      prefix: options.prefix,
      like: options.like,
      operations: operations as OperationKind[],
      events: listOf(options.events),
      properties: listOf(options.properties ?? ''),
      extensions: {
        ...(options.scope !== undefined && { 'x-scope': options.scope }),
        ...(options.rateLimit !== undefined && { 'x-rate-limit': options.rateLimit }),
      },
    })
    // Whatever the neighbour looks like: a document that cannot be read is not written.
    const check = createReport()
    parseText(file, text, check, config.strict)
    check.finish()
    writeFileSync(file, text)
    const steps = [
      ...lists.map((line) => `${file}:${line} lists ${options.like}: perhaps it goes on`),
      `read and complete what was written: properties, descriptions, examples (${blocks.map(([from, to]) => `${file}:${from}-${to}`).join(', ')})`,
      'run `dateline generate`',
      ...(config.stub === undefined ? [] : ['run `dateline stub`: it says which files it writes']),
      'run the type checker and the tests: they name what is missing',
    ].map((step, index) => `${index + 1}. ${step}`)
    return { lines: [`wrote ${file}`, ...steps], data: { file, blocks, lists, steps } }
  } catch (error) {
    if (error instanceof ResourceError) throw new UsageError(error.message)
    throw error
  }
}

const listOf = (text: string): string[] => text.split(',').filter((each) => each !== '' && each !== 'none')

/** `coupons` → `coupon`, `categories` → `category`; `--singular` says what else there is. */
function singularOf(name: string): string {
  if (name.endsWith('ies')) return `${name.slice(0, -3)}y`
  if (/(ss|x|ch|sh)es$/.test(name)) return name.slice(0, -2)
  if (name.endsWith('s') && !name.endsWith('ss')) return name.slice(0, -1)
  throw new UsageError(`what is one of ${name} called? Say it with --singular`)
}
