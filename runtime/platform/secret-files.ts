/** Reads secret settings from files: `NAME_FILE` names a file with the value of `NAME`. */
import { closeSync, openSync, readSync } from 'node:fs'
import {
  isSecret,
  SETTING_NAMES,
  type SecretName,
  type SettingName,
  type SettingVariables,
} from './setting-catalog.ts'
import type { SettingProblem } from './setting-readers.ts'

/** No setting is longer. The limit keeps a wrong path, such as that of a database, from being read into memory. */
const MAX_BYTES = 65_536

/** Variables after the files are read. */
export interface VariablesWithFiles {
  readonly variables: SettingVariables
  /** Paths of the files that were read, by the setting that they contain. */
  readonly files: ReadonlyMap<SettingName, string>
  /** Problems of files, under the names of the variables that name them. */
  readonly problems: readonly SettingProblem[]
}

const SECRET_NAMES = SETTING_NAMES.filter(isSecret)

/** Returns the variable that names the file of a secret setting. */
export const fileVariable = (name: SecretName) => `${name}_FILE` as const

/**
 * Replaces each `NAME_FILE` by the content of its file, without the newline that editors and `echo` add. systemd
 * credentials, Docker secrets and Kubernetes secrets are such files.
 */
export function withSecretFiles(env: SettingVariables): VariablesWithFiles {
  const variables: Partial<Record<SettingName, string | undefined>> = { ...env }
  const files = new Map<SettingName, string>()
  const problems: SettingProblem[] = []
  for (const name of SECRET_NAMES) {
    const variable = fileVariable(name)
    const path = env[variable]
    if (!path) continue
    if (env[name]) {
      problems.push({ variable, problem: `is set, and so is ${name}: set only one of them` })
      continue
    }
    try {
      variables[name] = readSecret(path)
      files.set(name, path)
    } catch (error) {
      problems.push({
        variable,
        problem: `${path} ${error instanceof Error ? error.message : String(error)}`,
      })
    }
  }
  return { variables, files, problems }
}

/**
 * Returns the problems of the files, and those of the values. A value from a file is named by the file's variable. If the
 * file cannot be used, that problem is enough.
 */
export function nameFiles(
  { files, problems: ofFiles }: VariablesWithFiles,
  ofValues: readonly SettingProblem[],
): readonly SettingProblem[] {
  const unusable = new Set(ofFiles.map(({ variable }) => variable))
  const paths: ReadonlyMap<string, string> = files
  const named = ofValues
    .filter(({ variable }) => !unusable.has(`${variable}_FILE`))
    .map(({ variable, problem }) => {
      const path = paths.get(variable)
      if (path === undefined) return { variable, problem }
      return { variable: `${variable}_FILE`, problem: `the value in ${path} ${problem}` }
    })
  return [...ofFiles, ...named]
}

/** Reads one secret. Errors say what is wrong with the file, and never show its content. */
function readSecret(path: string): string {
  const bytes = Buffer.alloc(MAX_BYTES + 1)
  const length = readStart(path, bytes)
  if (length > MAX_BYTES) throw new Error(`has more than ${MAX_BYTES} bytes: expected one secret`)
  const content = bytes.subarray(0, length)
  const text = content.toString('utf8').replace(/\r?\n$/, '')
  if (text === '') throw new Error('is empty: write the secret to it')
  if (/[\r\n]/.test(text)) throw new Error('has several lines: expected one')
  if (text.includes('\0') || text.includes('\ufffd')) throw new Error('is not a text file in UTF-8')
  return text
}

/** Fills the buffer from the start of a file, which may be a pipe. Returns the number of bytes. */
function readStart(path: string, bytes: Buffer): number {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    let length = 0
    for (;;) {
      const read = readSync(file, bytes, length, bytes.length - length, null)
      length += read
      if (read === 0 || length === bytes.length) return length
    }
  } catch (cause) {
    throw new Error(`cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
