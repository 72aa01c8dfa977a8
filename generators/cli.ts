#!/usr/bin/env node
/**
 * `dateline`, the maintainers' command. Exit codes: 0 success, 1 findings, 2 usage error, 3 unreadable input, 70
 * internal error.
 */
import { realpathSync, statSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { Command, CommanderError, Option } from 'commander'
import { describeRelease } from './cli/release.ts'
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

/** How a command ended. */
interface End {
  readonly command: string
  readonly exit: number
  readonly diagnostics: readonly Diagnostic[]
  readonly outcome?: CommandOutcome
  readonly wroteTypes?: boolean
}

type CommandAction = (run: CommandRun, ...rest: string[]) => Promise<CommandOutcome>

/**
 * Runs one command.
 *
 * @param argv arguments without the program name.
 * @returns the exit code.
 */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  // Commands have an option of this name, so the program must not read it.
  if (argv.length === 1 && argv[0] === '--version') {
    terminal.out(`dateline ${describeRelease()}`)
    return OK
  }
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
    terminal.error(`internal error in dateline: ${error instanceof Error ? error.stack : String(error)}`)
    return BUG
  }
}

/** Commands that may run in a folder without a configuration. */
const WITHOUT_CONFIGURATION = new Set(['adopt', 'diff', 'explain', 'init'])

function createProgram(terminal: Terminal): Command {
  return new Command('dateline')
    .description('Generates servers, translations, clients and docs from dated OpenAPI documents.')
    .addHelpText('after', '\n`dateline --version` prints the version and the commit.')
    .option('--config <file>', 'configuration file', 'dateline.config.json')
    .option('--json', 'print one JSON object')
    .addOption(new Option('--format <format>', 'output format of findings').choices(FORMATS))
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.error(text.trimEnd()),
    })
}

/** Returns the commands with their arguments and options, for the command reference. */
export function listCommands(): readonly Command[] {
  const program = createProgram(processTerminal())
  addCommands(program, (command) => command)
  return program.commands
}

/** Commands import their modules when they run, so that, for example, `diff` does not load the emitters. */
function addCommands(program: Command, perform: (command: Command, action: CommandAction) => Command): void {
  const command = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .option('--json', 'print one JSON object')
      .addOption(new Option('--format <format>', 'output format of findings').choices(FORMATS))
  const generate = command('generate', 'generate all output from the documents')
  perform(
    generate
      .option('--dry-run', 'print what would be written and removed, without changing files')
      .option('--fix', 'first write a draft of the change for each breaking difference that has none'),
    async (run) => {
      const { dryRun: dry = false, fix = false } = generate.opts<{ dryRun?: true; fix?: true }>()
      return (await import('./cli/generate.ts')).generate(run, { dry, fix })
    },
  )
  perform(
    command(
      'check',
      'fail if the output does not match the documents, and print the document line behind each difference',
    ),
    async (run) => (await import('./cli/generate.ts')).check(run),
  )
  perform(
    command('build [emitters...]', 'build files that are not committed, if they are missing or out of date'),
    async (run, ...emitters) => (await import('./cli/build.ts')).build(run, emitters),
  )
  const diff = command(
    'diff [old] [new]',
    'print the differences between two versions or files, and the change that accounts for each',
  )
  perform(
    diff
      .option('--markdown', 'print tables for a pull request')
      .option(
        '--since <commit>',
        'compare the documents with those of a Git commit, instead of two versions',
      ),
    async (run, old, next) => (await import('./cli/diff.ts')).diff(run, [old, next], diff.opts()),
  )
  const prove = command('prove', 'search for values that the changes translate incorrectly')
  perform(
    prove
      .option('--seconds <seconds>', 'time limit', '20')
      .option('--seed <seed>', 'seed of the generated values'),
    async (run) => (await import('./cli/prove.ts')).prove(run, prove.opts()),
  )
  const init = command('init [folder]', 'create a new API with one version')
  perform(
    init
      .addOption(
        new Option('--framework <name>', 'web framework')
          .choices(['node', 'express', 'fastify', 'hono'])
          .default('node'),
      )
      .option('--date <date>', 'the first version; default: today'),
    async (_run, folder = '.') => (await import('./cli/init.ts')).init(folder, init.opts()),
  )
  const adopt = command('adopt <source>', 'check the versions of an existing service, in any language')
  perform(adopt.option('--date <date>', 'the first version; default: today'), async (_run, source) =>
    (await import('./cli/init.ts')).adopt(source!, adopt.opts()),
  )
  perform(command('explain <code>', 'explain a finding or a difference'), async (_run, code) =>
    (await import('./cli/explain.ts')).explainCode(code!),
  )
  const freeze = command('freeze <date>', 'store what the service says today as a version')
  perform(
    freeze.option(
      '--from <source>',
      'URL, file or command that returns the document; default: `source` of the configuration',
    ),
    async (run, date) =>
      (await import('./cli/freeze.ts')).freeze(run, date!, freeze.opts<{ from?: string }>().from),
  )
  perform(
    command('new-version <version>', 'create the next document and its folder of changes'),
    async (run, version) => (await import('./cli/new-version.ts')).newVersion(run, version!),
  )
  const rename = command('rename-version <old> <new>', 'rename a version that is not published')
  perform(
    rename
      .option('--unpublished', 'state that no caller uses the version')
      .option('--dry-run', 'print what would change, without changing files'),
    async (run, old, next) =>
      (await import('./cli/rename-version.ts')).renameVersion(run, old!, next!, rename.opts()),
  )
  const remove = command(
    'remove-version <version>',
    'remove a version, if the callers of all others get the same as before',
  )
  perform(
    remove
      .option('--changes <folder>', 'changes that replace those of the version and of the next one')
      .option('--unpublished', 'state that no caller uses the version, to remove the newest one')
      .option('--dry-run', 'print what would change, without changing files'),
    async (run, version) =>
      (await import('./cli/remove-version.ts')).removeVersion(run, version!, remove.opts()),
  )
  const resource = command(
    'new-resource <name>',
    'add a resource to the newest document, modeled on an existing one',
  )
    .requiredOption(
      '--like <tag>',
      'tag of the existing resource to copy scope, bucket, headers, errors and parameters from',
    )
    .requiredOption('--prefix <prefix>', 'prefix of the new identifiers')
    .option('--singular <word>', 'singular name of the resource')
    .option('--operations <kinds>', 'comma-separated: create, list, get, update, archive', 'create,list,get')
    .option('--events <verbs>', 'comma-separated verbs in the past tense, or none', 'created')
    .option('--properties <names>', 'comma-separated properties to copy from the existing resource')
    .option('--scope <scope>', "scope, if different from the existing resource's")
    .option('--rate-limit <bucket>', "rate limit bucket, if different from the existing resource's")
  perform(resource, async (run, name) =>
    (await import('./cli/new-resource.ts')).newResource(run, name!, resource.opts()),
  )
  perform(command('watch', 'regenerate when a document or a change is saved'), async (run) =>
    (await import('./cli/watch.ts')).watch(run, interruption()),
  )
  const replay = command(
    'replay <files...>',
    'report per caller what an upgrade changes and breaks in recorded traffic: HAR files or request logs of JSON lines, also with .gz',
  )
  perform(
    replay
      .requiredOption('--from <version>', 'version of the recorded traffic')
      .option('--to <version>', 'version to upgrade to; default: the newest')
      .option('--caller <header>', 'header that names the caller; default: a hash of the key'),
    async (run, ...files) => (await import('./cli/replay.ts')).replay(run, files, replay.opts()),
  )
  const mock = command('mock', 'serve every version from the documents, and remember what callers create')
  perform(
    mock
      .option('--version <version>', 'version of requests that name none; default: the newest')
      .option('--port <port>', 'port; 0 for any free port', '4010')
      .option('--host <host>', 'address to listen on', '127.0.0.1')
      .option('--seed <seed>', 'seed of generated values', '1'),
    async (run) => (await import('./cli/mock.ts')).mock(run, mock.opts(), interruption()),
  )
  const mcp = command(
    'mcp',
    'serve the documentation and the operations of one version as tools for language models, over stdio',
  )
  perform(
    mcp
      .option('--version <version>', 'version that the tools belong to; default: the newest')
      .option('--base-url <url>', 'URL of the API; default: the first server of the document')
      .option('--tag <tags...>', 'only operations with one of these tags')
      .option('--allow <names...>', 'tags, scopes or operation ids that may write; otherwise tools only read')
      .option(
        '--scopes <scopes>',
        'comma-separated scopes of the key; leaves out operations that need others',
      )
      .option('--key-env <name>', 'environment variable with the key or token', 'DATELINE_API_KEY')
      .option('--live', 'allow a live key')
      .option('--port <port>', 'serve Streamable HTTP on this port of loopback instead; 0 for any free port'),
    async (run) => (await import('./cli/mcp.ts')).mcp(run, mcp.opts(), interruption(), process.env),
  )
  const stub = command(
    'stub [operations...]',
    'create handler stubs for operations added to the newest document since the last commit, or for the named operations',
  )
  perform(
    stub.option('--list', 'list operations without a handler, and write nothing'),
    async (run, ...operations) =>
      (await import('./cli/stub.ts')).stub(run, stub.opts<{ list?: true }>().list === true, operations),
  )
  const docs = command('docs', 'generate all output and print the path of the documentation')
  perform(docs.option('--out <folder>', 'also write the documentation there, as static files'), async (run) =>
    (await import('./cli/generate.ts')).docs(run, docs.opts<{ out?: string }>().out),
  )
}

/** Returns a signal that aborts when the process is interrupted. */
function interruption(): AbortSignal {
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  process.once('SIGTERM', () => stop.abort())
  return stop.signal
}

/** Bytes of documents from which a small space for new objects costs more time than it saves memory. */
const MANY_BYTES = 16_000_000

/** Stops the growth of this thread's space for new objects, which takes a quarter of the memory for one document of 3 MB. */
function boundNewSpace(documents: readonly string[]): void {
  const bytes = documents.reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
  if (bytes < MANY_BYTES) setFlagsFromString('--semi-space-growth-factor=1')
}

/** @throws any error that is not a DiagnosticsError: a bug. */
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
    // `diff` can compare two files without a configuration, but a configuration named with --config must exist.
    const optional =
      WITHOUT_CONFIGURATION.has(name) && command.getOptionValueSourceWithGlobals('config') === 'default'
    run = await openRun(options.config, terminal, sources, optional)
    const { report, config } = run
    if (isProgram) boundNewSpace(config.documents)
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

/** Chains of thousands of references overflow the stack. Reports that as a fault of the document. */
function explainOverflow(error: unknown, { config, report }: Pick<CommandRun, 'config' | 'report'>): never {
  if (!(error instanceof RangeError) || !/call stack/.test(error.message)) throw error
  for (const file of config.documents) {
    const message = 'a chain of thousands of references between components is too deep'
    const place = { file, line: 1, column: 1, pointer: '' }
    report.add({ code: 'document-excess', severity: 'error', place, message, hint: 'shorten the chain' })
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
const isProgram = program !== undefined && realpathSync(program) === fileURLToPath(import.meta.url)
if (isProgram) {
  // With the compile cache, commands load in half the time. Node 20 has none.
  module.enableCompileCache?.()
  // By default, V8 lets the heap grow to four times the live size, which means gigabytes for large families.
  setFlagsFromString('--heap-growing-percent=25')
  // By default, the space for new objects of each worker grows to 32 MB and more.
  for (const flag of ['min-semi-space-size=8', 'max-semi-space-size=8']) setFlagsFromString(`--${flag}`)
  process.exitCode = await main(process.argv.slice(2))
}
