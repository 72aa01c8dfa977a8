/**
 * `new-resource NAME`: adds a resource to the newest document, modeled on an existing one, and prints the next
 * steps.
 */
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

/** @throws UsageError if the document already has the resource, or lacks the one to model it on. */
export async function newResource(
  run: CommandRun,
  name: string,
  options: NewResourceOptions,
): Promise<CommandOutcome> {
  const { config, report } = run
  const file = config.documents.at(-1)!
  const source = readFileSync(file, 'utf8')
  if (!/\.ya?ml$/.test(file))
    throw new UsageError(`${file} is not a YAML file: new-resource edits only .yaml and .yml documents`)
  parseText(file, source, report, config)
  report.finish()
  const operations = listOf(options.operations)
  const unknown = operations.find((kind) => !KINDS.includes(kind))
  if (unknown !== undefined)
    throw new UsageError(`--operations: unknown operation ${unknown}; expected ${KINDS.join(', ')}`)
  const singular = options.singular ?? singularOf(name)
  for (const text of [name, singular, options.prefix])
    if (!/^[a-z]+(_[a-z]+)*$/.test(text))
      throw new UsageError(`${text} is not in snake_case: expected lowercase words such as \`book_lists\``)
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
    // Checks the result before writing: an unusual neighbor must not lead to an unreadable document.
    const check = createReport()
    parseText(file, text, check, config)
    check.finish()
    writeFileSync(file, text)
    const steps = [
      ...lists.map((line) => `${file}:${line} lists ${options.like}: add ${name} if it belongs there`),
      `review and complete the new lines: properties, descriptions, examples (${blocks.map(([from, to]) => `${file}:${from}-${to}`).join(', ')})`,
      'run `dateline generate`',
      ...(config.stub === undefined ? [] : ['run `dateline stub` to create handler files']),
      'run the type checker and the tests to find missing parts',
    ].map((step, index) => `${index + 1}. ${step}`)
    return { lines: [`wrote ${file}`, ...steps], data: { file, blocks, lists, steps } }
  } catch (error) {
    if (error instanceof ResourceError) throw new UsageError(error.message)
    throw error
  }
}

const listOf = (text: string): string[] => text.split(',').filter((each) => each !== '' && each !== 'none')

/** `coupons` → `coupon`, `categories` → `category`. Irregular plurals need `--singular`. */
function singularOf(name: string): string {
  if (name.endsWith('ies')) return `${name.slice(0, -3)}y`
  if (/(ss|x|ch|sh)es$/.test(name)) return name.slice(0, -2)
  if (name.endsWith('s') && !name.endsWith('ss')) return name.slice(0, -1)
  throw new UsageError(`cannot derive the singular of ${name}: set it with --singular`)
}
