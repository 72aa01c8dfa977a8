#!/usr/bin/env node
/** `dateline`: the maintainers' command. Exit codes: 0 fine, 1 findings, 2 usage, 3 unreadable input, 70 a bug. */
import { realpathSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { Command, CommanderError, Option } from 'commander'
import {
  BUG,
  type CommandOutcome,
  type CommandRun,
  count,
  FINDINGS,
  isUnreadable,
  OK,
  openRun,
  painterOf,
  processTerminal,
  type Terminal,
  UNREADABLE,
  USAGE,
  UsageError,
} from './cli/run.ts'
import { createSourceLines, type SourceLines } from './cli/source-lines.ts'
import { type Diagnostic, DiagnosticsError, formatDiagnostic, locateAll } from './diagnostics/diagnostic.ts'
import { formatAnnotation } from './diagnostics/github.ts'
import { toSarif } from './diagnostics/sarif.ts'

const FORMATS = ['text', 'json', 'github', 'sarif'] as const
type Format = (typeof FORMATS)[number]

interface Options {
  readonly config: string
  readonly format?: Format
  readonly json?: true
}

/** How one command ended. */
interface End {
  readonly command: string
  readonly exit: number
  readonly diagnostics: readonly Diagnostic[]
  readonly outcome?: CommandOutcome
  readonly wroteTypes?: boolean
}

type CommandAction = (run: CommandRun, ...rest: string[]) => Promise<CommandOutcome>

/** Runs one command. @param argv without the program's name. @returns the exit code. */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  let end: End | undefined
  const program = createProgram(terminal)
  const perform = (command: Command, action: CommandAction) =>
    command.action(async () => {
      const options = command.optsWithGlobals<Options>()
      const format = options.json ? 'json' : (options.format ?? 'text')
      const sources = createSourceLines()
      end = await endOf(command, action, options, terminal, sources)
      terminal.status?.('')
      print(end, format, terminal, sources)
    })
  addCommands(program, perform)
  try {
    await program.parseAsync(argv, { from: 'user' })
    return end?.exit ?? OK
  } catch (error) {
    terminal.status?.('')
    if (error instanceof CommanderError) return error.exitCode === 0 ? OK : USAGE
    if (error instanceof UsageError) {
      terminal.error(error.message)
      return USAGE
    }
    terminal.error(`dateline met a bug of its own: ${error instanceof Error ? error.stack : String(error)}`)
    return BUG
  }
}

function createProgram(terminal: Terminal): Command {
  return new Command('dateline')
    .description('Generates servers, translations, clients and docs from dated OpenAPI documents.')
    .option('--config <file>', 'configuration file', 'dateline.config.json')
    .option('--json', 'print one JSON object')
    .addOption(new Option('--format <format>', 'how findings are printed').choices(FORMATS))
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.error(text.trimEnd()),
    })
}

/** Commands load what they need when they run: a listing of differences waits for no emitter. */
function addCommands(program: Command, perform: (command: Command, action: CommandAction) => Command): void {
  const command = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .option('--json', 'print one JSON object')
      .addOption(new Option('--format <format>', 'how findings are printed').choices(FORMATS))
  const generate = command('generate', 'write everything that the documents say')
  perform(generate.option('--dry-run', 'say what would be written and removed'), async (run) =>
    (await import('./cli/generate.ts')).generate(run, generate.opts<{ dryRun?: true }>().dryRun === true),
  )
  perform(
    command(
      'check',
      'fail when the output is not what the documents say, and name the line that it comes from',
    ),
    async (run) => (await import('./cli/generate.ts')).check(run),
  )
  perform(
    command(
      'build [emitters...]',
      'build what the repository does not hold, where it is missing or not what it should be',
    ),
    async (run, ...emitters) => (await import('./cli/build.ts')).build(run, emitters),
  )
  const diff = command(
    'diff <old> <new>',
    'what differs between two versions or files, and which change accounts for it',
  )
  perform(diff.option('--markdown', 'print tables for a pull request'), async (run, old, next) =>
    (await import('./cli/diff.ts')).diff(
      run,
      old!,
      next!,
      diff.opts<{ markdown?: true }>().markdown === true,
    ),
  )
  const prove = command('prove', 'look for a value that the changes translate wrongly')
  perform(
    prove.option('--seconds <seconds>', 'how long', '20').option('--seed <seed>', 'which values'),
    async (run) => (await import('./cli/prove.ts')).prove(run, prove.opts()),
  )
  perform(
    command('new-version <version>', 'make the next document and the folder of its changes'),
    async (run, version) => (await import('./cli/new-version.ts')).newVersion(run, version!),
  )
  const resource = command(
    'new-resource <name>',
    'write a resource into the newest document, after a neighbour',
  )
    .requiredOption(
      '--like <tag>',
      'the neighbour: scope, bucket, headers, errors and parameters are its own',
    )
    .requiredOption('--prefix <prefix>', 'of its identifiers')
    .option('--singular <word>', 'what one of them is called')
    .option('--operations <kinds>', 'of create, list, get, update, archive', 'create,list,get')
    .option('--events <verbs>', 'in the past tense, or none', 'created')
    .option('--properties <names>', "of the neighbour's that it has too")
    .option('--scope <scope>', "in place of the neighbour's")
    .option('--rate-limit <bucket>', "in place of the neighbour's")
  perform(resource, async (run, name) =>
    (await import('./cli/new-resource.ts')).newResource(run, name!, resource.opts()),
  )
  perform(command('watch', 'generate again whenever a document or a change is written'), async (run) => {
    const stop = new AbortController()
    process.once('SIGINT', () => stop.abort())
    process.once('SIGTERM', () => stop.abort())
    return (await import('./cli/watch.ts')).watch(run, stop.signal)
  })
  const stub = command(
    'stub [operations...]',
    'begin what has no handler: what the newest document has gained since the last commit, or what is named',
  )
  perform(stub.option('--list', 'say which have none, and write nothing'), async (run, ...operations) =>
    (await import('./cli/stub.ts')).stub(run, stub.opts<{ list?: true }>().list === true, operations),
  )
  const docs = command('docs', 'write everything and say where the documentation begins')
  perform(
    docs.option('--out <folder>', 'write it there too, as files that any server can show'),
    async (run) => (await import('./cli/generate.ts')).docs(run, docs.opts<{ out?: string }>().out),
  )
}

/** @throws what is neither a finding nor an outcome. */
async function endOf(
  command: Command,
  action: CommandAction,
  options: Options,
  terminal: Terminal,
  sources: SourceLines,
): Promise<End> {
  const name = command.name()
  let run: CommandRun | undefined
  try {
    // `diff` can name two files; a configuration that is named has to exist.
    const optional = name === 'diff' && command.getOptionValueSourceWithGlobals('config') === 'default'
    run = await openRun(options.config, terminal, sources, optional)
    const { report, config } = run
    const outcome = await action(run, ...command.args).catch((error) =>
      explainOverflow(error, { report, config }),
    )
    const { diagnostics } = report
    return { command: name, exit: outcome.exit ?? OK, diagnostics, outcome }
  } catch (error) {
    if (!(error instanceof DiagnosticsError)) throw error
    const { diagnostics } = error
    const exit = isUnreadable(diagnostics) ? UNREADABLE : FINDINGS
    return { command: name, exit, diagnostics, ...(run?.wroteTypes && { wroteTypes: true }) }
  }
}

/** Components that lead on to each other by the thousand are deeper than the stack: the document is at fault. */
function explainOverflow(error: unknown, { config, report }: Pick<CommandRun, 'config' | 'report'>): never {
  if (!(error instanceof RangeError) || !/call stack/.test(error.message)) throw error
  for (const file of config.documents) {
    const message = 'components refer to each other in chains of thousands'
    const place = { file, line: 1, column: 1, pointer: '' }
    report.add({ code: 'document-excess', severity: 'error', place, message, hint: 'shorten them' })
  }
  throw new DiagnosticsError(report.diagnostics)
}

function print(end: End, format: Format, terminal: Terminal, { linesOf }: SourceLines): void {
  const { command, exit, diagnostics, outcome } = end
  locateAll(diagnostics)
  if (format === 'json') {
    terminal.out(JSON.stringify({ command, exit, findings: diagnostics, ...outcome?.data }, null, 2))
    return
  }
  if (format === 'sarif') {
    terminal.out(JSON.stringify(toSarif(diagnostics), null, 2))
    return
  }
  for (const line of outcome?.lines ?? []) terminal.out(line)
  if (format === 'github' || process.env.GITHUB_ACTIONS === 'true')
    for (const each of diagnostics) terminal.out(formatAnnotation(each))
  if (format === 'github') return
  const paint = painterOf(terminal)
  for (const diagnostic of diagnostics) terminal.error(formatDiagnostic(diagnostic, linesOf, paint))
  if (!outcome)
    terminal.error(
      `${count(errorsIn(diagnostics), 'problem')}; ${end.wroteTypes ? 'types were written, nothing else' : 'nothing was written'}`,
    )
}

const errorsIn = (diagnostics: readonly Diagnostic[]): number =>
  diagnostics.filter((each) => each.severity === 'error').length

const [, program] = process.argv
if (program !== undefined && realpathSync(program) === fileURLToPath(import.meta.url)) {
  // Commands load what they need when they run: compiled once, it loads in half the time.
  module.enableCompileCache?.()
  // Large families fill gigabytes with garbage otherwise: V8 lets a heap grow to four times what is in use.
  setFlagsFromString('--heap-growing-percent=25')
  process.exitCode = await main(process.argv.slice(2))
}
