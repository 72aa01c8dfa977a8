/** Judges every break of the battery, and checks each witness a second time, by ajv instead of the toolkit's validators. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { responseFor } from '../../../generators/diff/answers.ts'
import { diffApis } from '../../../generators/diff/diff.ts'
import { formatLocation } from '../../../generators/diff/difference.ts'
import type { Api } from '../../../generators/ir/model.ts'
import type { WitnessMessage } from '../../../generators/witness/message.ts'
import type { Witness } from '../../../generators/witness/proof.ts'
import { createJudge } from '../../../generators/witness/witness.ts'
import { PAIRS, type Pair, readApi } from './pairs.ts'

export interface Judgment {
  readonly breaks: number
  readonly proven: number
  readonly disproven: readonly string[]
  readonly unproven: readonly string[]
  /** Number of witnesses that ajv checked. */
  readonly checked: number
  /** Witnesses on which ajv disagrees with a version. */
  readonly wrong: readonly string[]
}

export function judgeBattery(pairs: readonly Pair[] = PAIRS): Judgment {
  let [breaks, proven, checked] = [0, 0, 0]
  const [disproven, unproven, wrong]: string[][] = [[], [], []]
  for (const { name, old, next, translated } of pairs) {
    const [a, b] = [readApi(old), readApi(next)]
    const judge = createJudge(a, b)
    for (const difference of diffApis(a, b, { translated })) {
      if (difference.class !== 'breaking') continue
      breaks += 1
      const verdict = judge(difference)
      const told = `${name}: ${difference.code} ${formatLocation(difference.at)}: ${difference.message}`
      if (verdict.kind === 'proven') {
        proven += 1
        const second = checkAgain(verdict.witness)
        if (second !== undefined) checked += 1
        const { message, reason } = verdict.witness
        if (second === false) wrong!.push(`${told}: ${JSON.stringify(message.body)}: ${reason}`)
      } else (verdict.kind === 'unproven' ? unproven! : disproven!).push(told)
    }
  }
  return { breaks, proven, disproven: disproven!, unproven: unproven!, checked, wrong: wrong! }
}

/**
 * Returns whether ajv agrees; undefined if the witness has no JSON body, or JSON Schema 2020-12 does not say what the
 * document means: in OpenAPI 3.0, and for discriminators.
 */
function checkAgain({ message, by, against, reason }: Witness): boolean | undefined {
  const isPlain = ({ document }: Api) =>
    String(document.openapi).startsWith('3.1') && !JSON.stringify(document).includes('"discriminator"')
  if (message.body === undefined || !isPlain(by) || !isPlain(against)) return undefined
  const accepts = (api: Api) => {
    const schema = findSchema(api, message)
    return schema === undefined ? undefined : validates(api, schema, message.body)
  }
  const [own, other] = [accepts(by), accepts(against)]
  if (own === undefined || other === undefined) return undefined
  const isRefused = /^(refuses|never sends) it: (?!a body)/.test(reason)
  return own && (!isRefused || !other)
}

function findSchema(api: Api, { operation, status, mediaType }: WitnessMessage): string | undefined {
  const own = api.operations.find(
    ({ method, path }) => method === operation?.method && path === operation.path,
  )
  const holder = own && (status === undefined ? own.body : responseFor(own, status))
  return holder?.contents.find((each) => each.mediaType === mediaType)?.schema.place.pointer
}

function validates({ document }: Api, pointer: string, value: unknown): boolean {
  const ajv = new Ajv2020({ strict: false, discriminator: false, logger: false })
  addFormats.default(ajv)
  ajv.addSchema(document, 'document')
  const encoded = pointer.split('/').map(encodeURIComponent).join('/')
  return ajv.validate({ $ref: `document#${encoded}` }, value)
}
