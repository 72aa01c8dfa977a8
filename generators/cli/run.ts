/** Shared by all commands of `dateline`: configuration, terminal and results. */
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

/** The output of a command. Tests pass a fake. */
export interface Terminal {
  out(line: string): void
  error(line: string): void
  /** Shows progress, replacing the previous text; an empty text clears it. Absent if stderr is not a terminal. */
  status?(text: string): void
  readonly colours?: boolean
}

/** Returns the terminal of this process. Shows progress and colors only if stderr is a terminal. */
export function processTerminal(): Terminal {
  const { stdout, stderr, env } = process
  // The reader may close the pipe early, as in `dateline diff … | head`.
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
  note: 'blue',
  good: 'green',
  place: 'cyan',
  faint: 'dim',
}

/** Returns the terminal's painter, which returns plain text if colors are off. */
export function painterOf(terminal: Terminal): DiagnosticPaint {
  if (!terminal.colours) return (_, text) => text
  return (style, text) => styleText(STYLES[style], text, { validateStream: false })
}

/** An error in the command line, as opposed to an error in a document. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** One invocation: the configuration and the findings so far. */
export interface CommandRun {
  readonly config: Config
  readonly file: string
  readonly report: Report
  readonly terminal: Terminal
  /** Source lines for printing findings. */
  readonly sources: SourceLines
  /** Whether types were written before the gate failed. */
  wroteTypes: boolean
}

/** The result of a command: lines for people, data for programs. */
export interface CommandOutcome {
  readonly lines: readonly string[]
  readonly data: Readonly<Record<string, unknown>>
  /** Exit code unless findings determine it; by default 0. */
  readonly exit?: number
}

/** Configuration of a command whose documents are arguments. */
const WITHOUT_FILE: Config = { documents: [], out: '.', emit: [], builtWhenNeeded: [], strict: false }

/**
 * Reads the configuration for one invocation.
 *
 * @param optional whether the command works without a configuration file.
 * @throws DiagnosticsError if the configuration cannot be read.
 */
export async function openRun(
  file: string,
  terminal: Terminal,
  sources = createSourceLines(),
  optional = false,
): Promise<CommandRun> {
  const report = createReport()
  const { findConfig, loadConfig } = await import('../generate/config.ts')
  const found = findConfig(file)
  if (optional && !existsSync(found))
    return { config: WITHOUT_FILE, file, report, terminal, sources, wroteTypes: false }
  const config = await loadConfig(found, report)
  report.finish()
  return { config: config!, file: found, report, terminal, sources, wroteTypes: false }
}

/**
 * Reads and validates the documents of the family.
 *
 * @throws DiagnosticsError
 */
export async function loadFamily(run: CommandRun): Promise<Api[]> {
  run.terminal.status?.(`reading ${run.config.documents.length} documents`)
  const { loadApis } = await import('../generate/generate.ts')
  const apis = await loadApis(run.config, run.report)
  run.report.finish()
  return apis
}

/** Returns a number with its noun: `1 problem`, `2 problems`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** Returns whether any finding means that the input could not be read. */
export function isUnreadable(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((each) => each.severity === 'error' && /^(document|config)-/.test(each.code))
}
