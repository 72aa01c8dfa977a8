/** The examples of the lens reference: their values translate as the page says, and their code compiles over both versions. */
import ts from 'typescript'
import { expect, test } from 'vitest'
import { LENS_EXAMPLES, type LensExample } from '../../../docs/toolkit/build/lens-examples.ts'
import { REAL_CHANGES } from '../../../docs/toolkit/build/real-changes/all.ts'
import { isCarried } from '../../../docs/toolkit/build/real-changes/real-change.ts'
import { documentsOf, runExample } from '../../../docs/toolkit/build/run-example.ts'
import { readDocument } from '../../../docs/toolkit/playground/compare.ts'
import { printDocumentTypes } from '../../../generators/emit/types/types.ts'
import { printDraft } from '../../../generators/propose/draft-file.ts'
import { programOf } from '../../versions/compile.ts'

const examples = Object.entries(LENS_EXAMPLES)

/** No document shows behavior. */
const isBehaviour = ({ lens }: LensExample) => lens.startsWith('v.behaviour(')

test.each(examples)('the example of %s accounts for its differences', (_, example) => {
  const { open, accounted } = runExample(example)
  expect(open).toEqual([])
  if (!isBehaviour(example)) expect(accounted.length).toBeGreaterThan(0)
})

test('an example without its lens leaves a difference open', () => {
  const open = examples.filter(
    ([, example]) =>
      !isBehaviour(example) && runExample({ lens: '', ...withoutValues(example) }).open.length === 0,
  )
  // New members of lists, and values that are only left out, break nothing.
  expect(open.map(([name]) => name)).toEqual([])
})

const withoutValues = ({ up: _up, down: _down, lens: _lens, ...documents }: LensExample) => documents

test('the lenses of examples and of real changes compile over the types of both versions', async () => {
  const root = process.cwd()
  const all = [...Object.values(LENS_EXAMPLES), ...REAL_CHANGES.filter(isCarried)]
  const files = new Map<string, string>()
  for (const [index, example] of all.entries()) {
    const path = (name: string) => `${root}/lens-${index}-${name}.ts`
    for (const [at, text] of documentsOf(example).entries()) {
      const { api } = readDocument({ file: 'api.yaml', text })
      files.set(path(`${at}`), `${OPEN}${await printDocumentTypes(api!.document)}`)
    }
    const types = { old: `./lens-${index}-0.ts`, next: `./lens-${index}-1.ts` }
    files.set(path('change'), printDraft({ id: 'change', why: "'Example.'", lens: example.lens }, types))
  }
  const problems = ts.getPreEmitDiagnostics(programOf(files))
  expect(
    problems.map(({ file, start = 0, messageText }) => {
      const code = file?.text.slice(start).split('\n')[0]
      return `${code}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
    }),
  ).toEqual([])
})

/** The type that generated files import. */
const OPEN = 'type Open<Known extends string> = Known | (string & {})\n'
