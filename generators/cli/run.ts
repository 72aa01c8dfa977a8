/** What every command of `dateline` has: its configuration, where it prints, and what it hands back. */
import { existsSync } from 'node:fs'
import { styleText } from 'node:util'
import {
  createReport,
  type Diagnostic,
  type DiagnosticPaint,
  type Report,
  type Style,
} from '../diagnostics/diagnostic.ts'
import type { Config } from '../generate/config.ts'
import type { Api } from '../ir/model.ts'
import { createSourceLines, type SourceLines } from './source-lines.ts'

export const OK = 0
export const FINDINGS = 1
export const USAGE = 2
export const UNREADABLE = 3
export const BUG = 70

/** Where output goes; tests give their own. */
export interface Terminal {
  out(line: string): void
  error(line: string): void
  /** Shows what is going on, in place of what was shown before; an empty text clears it. Absent where nobody watches. */
  status?(text: string): void
  readonly colours?: boolean
}

/** @returns the terminal of this process. Progress and colours only where somebody sees them. */
export function processTerminal(): Terminal {
  const { stdout, stderr, env } = process
  // `dateline diff … | head` has read enough: nobody is left to print to.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  const colours = stderr.isTTY && env.NO_COLOR === undefined && env.TERM !== 'dumb'
  return {
    out: (line) => void stdout.write(`${line}\n`),
    error: (line) => void stderr.write(`${line}\n`),
    colours,
    ...(stderr.isTTY && { status: (text: string) => void stderr.write(`\r\u001b[K${text}`) }),
  }
}

const STYLES: Record<Style, Parameters<typeof styleText>[0]> = {
  error: 'red',
  warning: 'yellow',
  good: 'green',
  place: 'cyan',
  faint: 'dim',
}

/** @returns how the terminal colours; plain where it does not. */
export function painterOf(terminal: Terminal): DiagnosticPaint {
  if (!terminal.colours) return (_, text) => text
  return (style, text) => styleText(STYLES[style], text, { validateStream: false })
}

/** A wrong call, as opposed to a wrong document. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** One invocation: what was configured, and what is known of the documents so far. */
export interface CommandRun {
  readonly config: Config
  /** The configuration file. */
  readonly file: string
  readonly report: Report
  readonly terminal: Terminal
  /** What findings are shown with. */
  readonly sources: SourceLines
  /** Types are written ahead of the gate, so that the missing change can be. */
  wroteTypes: boolean
}

/** What a command hands back: lines for people, data for programs. */
export interface CommandOutcome {
  readonly lines: readonly string[]
  readonly data: Readonly<Record<string, unknown>>
  /** Findings make a difference to the exit code; without, it is 0. */
  readonly exit?: number
}

/** The configuration of a command that names its documents itself. */
const WITHOUT_FILE: Config = { documents: [], out: '.', emit: [], builtWhenNeeded: [], strict: false }

/**
 * @param optional whether the command can do without a configuration where the file does not exist.
 * @throws DiagnosticsError when the configuration cannot be read.
 */
export async function openRun(
  file: string,
  terminal: Terminal,
  sources = createSourceLines(),
  optional = false,
): Promise<CommandRun> {
  const report = createReport()
  if (optional && !existsSync(file))
    return { config: WITHOUT_FILE, file, report, terminal, sources, wroteTypes: false }
  const { readConfig } = await import('../generate/config.ts')
  const config = readConfig(file, report)
  report.finish()
  return { config: config!, file, report, terminal, sources, wroteTypes: false }
}

/** Reads and checks the documents of the family. @throws DiagnosticsError */
export async function loadFamily(run: CommandRun): Promise<Api[]> {
  run.terminal.status?.(`reading ${run.config.documents.length} documents`)
  const { loadApis } = await import('../generate/generate.ts')
  const apis = await loadApis(run.config, run.report)
  run.report.finish()
  return apis
}

/** @returns `1 problem`, `2 problems`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** Whether the complaints say that input could not be read at all. */
export function isUnreadable(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((each) => each.severity === 'error' && /^(document|config)-/.test(each.code))
}
