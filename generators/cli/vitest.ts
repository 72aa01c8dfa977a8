/** `dateline/vitest`: the checks of a family as a test suite. */
import { describe, expect, test } from 'vitest'
import { createReport, type Diagnostic, formatDiagnostic } from '../diagnostics/diagnostic.ts'
import { findConfig, loadConfig } from '../generate/config.ts'
import { check, findMissingHandlers, loadFamily, prove } from './library.ts'

export interface FamilyTestOptions {
  /** The configuration file; by default `dateline.config.json`. */
  readonly config?: string
  /** Time limit of the search for values that the changes translate incorrectly. By default 2. */
  readonly seconds?: number
  /** Seed of the generated values. By default fixed, so that runs do not differ. */
  readonly seed?: number
  /** Time limit of each test, in milliseconds. By default 60,000. */
  readonly timeout?: number
}

/** Findings about the output, as opposed to findings about documents and changes. */
const ABOUT_OUTPUT = new Set(['drift', 'output-foreign', 'output-unwritable'])

const errorsIn = (findings: readonly Diagnostic[], wanted: (code: string) => boolean): string[] =>
  findings
    .filter(({ code, severity }) => severity === 'error' && wanted(code))
    .map((finding) => formatDiagnostic(finding))

/**
 * Declares the tests of a family. Call it once, at the top level of a test file.
 *
 * @example testFamily()
 */
export function testFamily({
  config: file,
  seconds = 2,
  seed = 1,
  timeout = 60_000,
}: FamilyTestOptions = {}): void {
  const family = loadFamily(file)
  let checking: ReturnType<typeof check> | undefined
  const checkOnce = () => {
    checking ??= check(family)
    return checking
  }
  describe(`dateline: ${family.file}`, { timeout }, async () => {
    test('documents and changes agree', async () => {
      const { findings } = await checkOnce()
      expect(errorsIn(findings, (code) => !ABOUT_OUTPUT.has(code))).toEqual([])
    })

    test('output is up to date', async () => {
      const { findings } = await checkOnce()
      expect(errorsIn(findings, (code) => ABOUT_OUTPUT.has(code))).toEqual([])
    })

    test('changes prove', async () => {
      const { findings } = await prove(family, { seconds, seed })
      expect(errorsIn(findings, () => true)).toEqual([])
    })

    const config = await loadConfig(findConfig(family.file), createReport())
    if (config?.handlers !== undefined)
      test('every handler exists', async () => {
        const { data, findings } = await findMissingHandlers(family)
        expect([errorsIn(findings, () => true), data.missing]).toEqual([[], []])
      })
  })
}
