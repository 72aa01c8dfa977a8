/**
 * Creates code samples before and after a change from the documents, the change's lenses and examples, and the
 * client's types.
 */

import { counterpartsOf, holdsIn, newNameOf } from '../../change/align.ts'
import type { Lens, ParameterLens } from '../../change/change.ts'
import type { LoadedChange } from '../../change/load-changes.ts'
import type { Wire } from '../../client-runtime/service.ts'
import type { VersionPair } from '../../gate/steps.ts'
import type { Api, ApiOperation } from '../../ir/model.ts'
import { applyRewrite } from '../../translate/apply.ts'
import { createStep } from '../../translate/step.ts'
import { answerOf } from '../../translate/transition.ts'
import { sampleParameter } from '../reference/sample.ts'
import { deliverySamples } from './deliveries.ts'
import { firstDifference, type Illustration, illustrationsOf } from './illustrations.ts'
import { appendAt, jsonIn, type PathStep, pathTo, putAt } from './paths.ts'
import { printCurl, type SampleRequest, sampleRequest } from './request.ts'
import type { Sample, SampleContext } from './sample.ts'
import { isCallable, printCall, type SampleReading } from './typescript.ts'

/** An operation in both versions. */
interface Both {
  readonly old: ApiOperation
  readonly next: ApiOperation
}

/** Returns no samples if a change affects no request, response or delivery. */
export function samplesOf(
  change: LoadedChange,
  step: VersionPair,
  context: SampleContext,
): readonly Sample[] {
  const { old, next, changes } = step
  const lenses = changes.flatMap((each) => each.lenses)
  const counterparts = counterpartsOf(old, next, lenses)
  const pairs = old.operations
    .flatMap((each): Both[] => {
      const counterpart = counterparts.get(each.id)
      return counterpart && isCallable(each) && isCallable(counterpart)
        ? [{ old: each, next: counterpart }]
        : []
    })
    .sort((a, b) => plainness(a.next) - plainness(b.next))
  const samples = [
    ...illustrationsOf(change, step).flatMap((each) => samplesOfValue(each, step, pairs, context)),
    ...change.lenses.flatMap((lens) => samplesOfLens(lens, step, pairs, context)),
    ...deliverySamples(change, step, context),
  ]
  return samples.length > 0 ? samples : samplesOfUses(change, step, pairs, context)
}

/** Ranks operations: those with fewer path parameters and extensions are easier to try. */
const plainness = ({ path, extensions }: ApiOperation): number =>
  path.split('{').length * 10 + Object.keys(extensions).length

function samplesOfValue(
  shown: Illustration,
  step: VersionPair,
  pairs: readonly Both[],
  context: SampleContext,
) {
  const inBody = pairs.find(
    ({ old, next }) => bodyPath(step.old, old, shown) && isWritable(bodyPath(step.next, next, shown), shown),
  )
  const inQuery = pairs.find(({ old, next }) => filterOf(old, shown) && filterOf(next, shown))
  const inAnswer = [...pairs]
    .sort((a, b) => Number(isRead(b.next)) - Number(isRead(a.next)))
    .find(({ old, next }) => answerPath(step.old, old, shown) && answerPath(step.next, next, shown))
  const written = shown.only !== 'down'
  return [
    ...(written && inBody ? [bodySample(shown, step, inBody, context)] : []),
    ...(written && inQuery && !shown.added ? [filterSample(shown, step, inQuery, context)] : []),
    ...(shown.only !== 'up' && inAnswer && !isEventName(shown, step)
      ? [answerSample(shown, step, inAnswer, context)]
      : []),
  ]
}

/** Ranks read operations: one record is more informative than a list. */
const isRead = ({ method, path }: ApiOperation): number => (method !== 'GET' ? 0 : path.endsWith('}') ? 2 : 1)

const isEventName = ({ new: value }: Illustration, { next }: VersionPair): boolean =>
  next.events.some(({ name }) => name === value)

function bodyPath(api: Api, operation: ApiOperation, { schema }: Illustration) {
  const content = operation.body?.required ? jsonIn(operation.body.contents) : undefined
  return content && pathTo(api, content.schema, schema)
}

/** A new value may need other values next to it, unless it is an item of a list. */
const isWritable = (path: readonly PathStep[] | undefined, { added }: Illustration): boolean =>
  path !== undefined && (!added || path.at(-1)?.name === undefined)

const filterOf = (operation: ApiOperation, { schema }: Illustration) =>
  operation.parameters.find(
    (each) => each.in === 'query' && each.schema.kind === 'ref' && each.schema.name === schema,
  )

function answerPath(api: Api, operation: ApiOperation, { schema }: Illustration) {
  const answer = answerOf(operation)
  return answer && pathTo(api, answer, schema)
}

function bodySample(shown: Illustration, step: VersionPair, pair: Both, context: SampleContext): Sample {
  const base = sampleRequest(step.old, pair.old, context.wire)
  const path = bodyPath(step.old, pair.old, shown) ?? []
  const before = { ...base, body: shown.added ? base.body : putAt(base.body, path, shown.old) }
  const upgraded = upgrade(before, step, pair, context.wire)
  const body = shown.added
    ? appendAt(upgraded.body, bodyPath(step.next, pair.next, shown) ?? [], shown.new)
    : upgraded.body
  return { ...requests(before, { ...upgraded, body }, context), added: shown.added }
}

/**
 * Returns the same request in the next version: the body as lenses translate it, and everything that the version
 * requires.
 */
function upgrade(before: SampleRequest, step: VersionPair, { old, next }: Both, wire: Wire): SampleRequest {
  const after = sampleRequest(step.next, next, wire)
  const [one, other] = [jsonIn(old.body?.contents)?.schema, jsonIn(next.body?.contents)?.schema]
  if (!one || !other || before.body === undefined) return after
  const up = createStep('up', step.old, step.next, step.changes)
  const rewrite = up.pair(one, other, `${next.id} body`)
  const body = applyRewrite(rewrite, structuredClone(before.body), {
    direction: 'up',
    functions: up.functions,
  })
  return { ...after, body }
}

function filterSample(shown: Illustration, step: VersionPair, pair: Both, context: SampleContext): Sample {
  const [one, other] = [filterOf(pair.old, shown)?.name ?? '', filterOf(pair.next, shown)?.name ?? '']
  return withParameters(step, pair, context, { [one]: shown.old }, { [other]: shown.new })
}

function answerSample(shown: Illustration, step: VersionPair, pair: Both, context: SampleContext): Sample {
  const [from, to] = firstDifference(shown.old, shown.new)
  const readings = [
    [step.old, pair.old, from],
    [step.next, pair.next, to],
  ] as const
  const [before, after] = readings.map(([api, operation, leaf]): SampleReading => {
    const path = answerPath(api, operation, shown) ?? []
    return { path: [...path, ...leaf.path], value: leaf.value }
  })
  const excerpt = (api: Api, operation: ApiOperation, value: unknown) =>
    JSON.stringify(putAt(undefined, answerPath(api, operation, shown) ?? [], value), null, 2)
  const sample = requests(
    sampleRequest(step.old, pair.old, context.wire),
    sampleRequest(step.next, pair.next, context.wire),
    context,
    before && after && [before, after],
  )
  return {
    ...sample,
    added: shown.added,
    answer: {
      before: excerpt(step.old, pair.old, shown.old),
      after: excerpt(step.next, pair.next, shown.new),
    },
  }
}

function requests(
  before: SampleRequest,
  after: SampleRequest,
  { wire, client }: SampleContext,
  readings?: readonly [SampleReading, SampleReading],
): Sample {
  return {
    title: after.operation.summary ?? after.operation.id,
    added: false,
    curl: { before: printCurl(before, wire), after: printCurl(after, wire) },
    ...(client !== undefined && {
      typescript: {
        before: printCall(before, client, wire, readings?.[0]),
        after: printCall(after, client, wire, readings?.[1]),
      },
    }),
  }
}

/** Returns samples derived only from lenses of parameters and headers. */
function samplesOfLens(
  lens: Lens,
  step: VersionPair,
  pairs: readonly Both[],
  context: SampleContext,
): Sample[] {
  if (lens.kind === 'filter') {
    const pair = pairs.find(({ next }) => next.id === lens.operation)
    if (!pair) return []
    // An old value matches several new ones. Uses the one in the document's example.
    const choose = (come: unknown, usual: unknown) =>
      Array.isArray(come) && !come.includes(usual) ? come[0] : usual
    return [
      convertedSample(
        lens.parameter,
        (old, usual) => choose(lens.up(old as never), usual),
        step,
        pair,
        context,
      ),
    ]
  }
  if (lens.kind === 'required-header') {
    const has = (operation: ApiOperation) =>
      operation.parameters.some(({ name, required }) => required && same(name, lens.header))
    const pair = pairs.find(({ old, next }) => has(next) && !has(old))
    if (!pair) return []
    const before = sampleRequest(step.old, pair.old, context.wire)
    return [requests(before, { ...upgrade(before, step, pair, context.wire), keyed: true }, context)]
  }
  if (!isOnParameters(lens)) return []
  const pair = pairs.find(
    ({ next }) => holdsIn(lens.operations, next.id) && next.parameters.some(isMeant(lens)),
  )
  return pair ? [parameterSample(lens, step, pair, context)] : []
}

const isOnParameters = (lens: Lens): lens is ParameterLens => lens.kind.endsWith('-parameter')

const isMeant = (lens: ParameterLens) => (each: { name: string; in: string }) =>
  each.in === lens.in && same(each.name, lens.kind === 'renamed-parameter' ? lens.to : lens.name)

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

function parameterSample(lens: ParameterLens, step: VersionPair, pair: Both, context: SampleContext): Sample {
  if (lens.kind === 'converted-parameter')
    return convertedSample(lens.name, (old) => lens.up(old as never), step, pair, context)
  if (lens.kind === 'default-parameter')
    return withParameters(step, pair, context, {}, { [lens.name]: lens.value })
  const name = lens.kind === 'renamed-parameter' ? lens.from : lens.name
  const given = pair.old.parameters.find((each) => each.in === lens.in && same(each.name, name))
  const value = given && sampleParameter(step.old, given)
  // An ignored parameter is removed from the request; the response stays the same.
  const after = lens.kind === 'renamed-parameter' ? { [lens.to]: value } : {}
  return withParameters(step, pair, context, { [name]: value }, after)
}

/**
 * @param name the new name of the parameter.
 * @param up returns the new value for an old one; `usual` is the value in the new document's example.
 */
function convertedSample(
  name: string,
  up: (old: unknown, usual: unknown) => unknown,
  step: VersionPair,
  pair: Both,
  context: SampleContext,
): Sample {
  const lenses = step.changes.flatMap((change) => change.lenses)
  const given = pair.old.parameters.find(
    (each) => (newNameOf(each, pair.next.id, lenses) ?? each.name) === name,
  )
  const made = pair.next.parameters.find((each) => each.name === name)
  if (!given || !made) return withParameters(step, pair, context, {}, {})
  const before = sampleParameter(step.old, given)
  const after = up(before, sampleParameter(step.next, made))
  return withParameters(step, pair, context, { [given.name]: before }, { [name]: after })
}

type SampleValues = Readonly<Record<string, unknown>>

/** Returns a sample with the parameters at their locations in the documents. */
function withParameters(
  step: VersionPair,
  pair: Both,
  context: SampleContext,
  before: SampleValues,
  after: SampleValues,
): Sample {
  const fill = (api: Api, operation: ApiOperation, values: SampleValues): SampleRequest => {
    const base = sampleRequest(api, operation, context.wire)
    const of = (where: string) =>
      Object.entries(values).filter(([name]) =>
        operation.parameters.some((each) => each.in === where && same(each.name, name)),
      )
    return {
      ...base,
      path: { ...base.path, ...Object.fromEntries(of('path')) },
      query: { ...base.query, ...Object.fromEntries(of('query')) },
      headers: {
        ...base.headers,
        ...Object.fromEntries(of('header').map(([name, value]) => [name, String(value)])),
      },
    }
  }
  return requests(fill(step.old, pair.old, before), fill(step.next, pair.next, after), context)
}

/** Returns samples of operations that the change affects, if their requests differ. */
function samplesOfUses(
  change: LoadedChange,
  step: VersionPair,
  pairs: readonly Both[],
  context: SampleContext,
): Sample[] {
  const uses = new Set(
    step.claimed.filter(({ by }) => by.includes(change)).flatMap(({ difference }) => difference.uses),
  )
  const pair = pairs.find(({ next }) => uses.has(next.id))
  if (!pair) return []
  const before = sampleRequest(step.old, pair.old, context.wire)
  return [requests(before, upgrade(before, step, pair, context.wire), context)]
}
