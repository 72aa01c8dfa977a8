/** Reads the OpenAPI document that a running service returns, for code-first services. */
import { exec } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { parseDocument } from 'yaml'
import { createReport } from '../diagnostics/diagnostic.ts'
import { UsageError } from './run.ts'

const TIMEOUT_MS = 60_000
const MAX_BYTES = 64 * 1024 * 1024

/**
 * @param source a URL, a file, or a shell command that prints the document
 * @returns the text of the document, JSON or YAML
 * @throws UsageError if the source cannot be read
 */
export async function readSourceDocument(source: string): Promise<string> {
  if (/^https?:\/\//.test(source)) return readUrl(source)
  if (existsSync(source)) return readJoined(source)
  try {
    const { stdout } = await promisify(exec)(source, { maxBuffer: MAX_BYTES, timeout: TIMEOUT_MS })
    return stdout
  } catch (cause) {
    const reason = (cause as { stderr?: string }).stderr?.trim() || (cause as Error).message
    throw new UsageError(
      `${source} is neither a URL nor a file, and as a command it failed: ${reason}. Expected a source that gives the OpenAPI document.`,
    )
  }
}

/** Returns a file with the files that it refers to, because only this text is stored. */
async function readJoined(file: string): Promise<string> {
  const { joinedText } = await import('../document/join-parts.ts')
  const text = readFileSync(file, 'utf8')
  const report = createReport()
  const joined = joinedText(file, text, report)
  report.finish()
  return joined ?? text
}

async function readUrl(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (response.ok) return await response.text()
    throw new Error(`it answered ${response.status}`)
  } catch (cause) {
    const { message, cause: reason } = cause as Error
    throw new UsageError(
      `${url} cannot be read: ${reason instanceof Error ? reason.message : message}. Start the service, or correct --from.`,
    )
  }
}

/** A document with a version: `info.version` is what dateline names versions by. */
export interface VersionedText {
  readonly text: string
  readonly extension: '.json' | '.yaml'
}

/**
 * @returns the document with `version` as its `info.version`. @throws UsageError if the text is not a mapping with
 * `info`.
 */
export function withVersion(text: string, version: string): VersionedText {
  if (!/^\w[\w.-]*$/.test(version))
    throw new UsageError(`${version} cannot be the name of a version: expected a date, such as 2030-01-01`)
  if (/^\s*\{/.test(text)) {
    const document = parseJson(text) as { info?: object }
    if (typeof document.info !== 'object') throw noInfo()
    const named = { ...document, info: { ...document.info, version } }
    return { text: `${JSON.stringify(named, null, 2)}\n`, extension: '.json' }
  }
  const document = parseDocument(text)
  if (document.errors.length > 0)
    throw new UsageError(`the document is not YAML: ${document.errors[0]!.message}`)
  if (!document.hasIn(['info'])) throw noInfo()
  document.setIn(['info', 'version'], version)
  return { text: document.toString({ lineWidth: 0 }), extension: '.yaml' }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UsageError(`the document is not JSON: ${(cause as Error).message}`)
  }
}

const noInfo = () =>
  new UsageError('the document has no `info`: expected an OpenAPI 3 document, JSON or YAML')
