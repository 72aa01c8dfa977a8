/** Reads one part of a message as a version does: it decodes parameters, and validates with the version's document. */
import { ClientError } from '../client-runtime/errors.ts'
import { writeParameter } from '../client-runtime/parameters.ts'
import { parameterEncoding, parameterRow, scalarTypes } from '../emit/wire/parameters.ts'
import { FORMAT_CHECKS } from '../ir/formats.ts'
import type { Api, ApiParameter } from '../ir/model.ts'
import type { Parameter } from '../runtime/contract.ts'
import { explain, issueOf } from '../runtime/explain.ts'
import {
  createQueryTable,
  ParameterError,
  readHeader,
  readQuery,
  readSegment,
} from '../runtime/parameters.ts'
import { propertyAt } from '../values/validity.ts'
import { type Slot, schemaIn } from './message.ts'
import type { Hidden, ValuePath } from './route.ts'

/** What a version finds in a value: its faults and where they are, and what it reads. */
export interface ValueReading {
  readonly faults: readonly { readonly path: ValuePath; readonly issue: string }[]
  readonly value: unknown
}

/**
 * Reads a value as a version does.
 *
 * @param writer the version that wrote the value, which determines how a parameter is serialized.
 * @param limit number of faults to find.
 */
export function readValue(
  api: Api,
  slot: Slot,
  value: unknown,
  writer: { readonly api: Api; readonly slot: Slot },
  limit = 50,
): ValueReading {
  const { pointer } = schemaIn(slot).place
  if (slot.kind === 'body' || writer.slot.kind === 'body') return validate(api, pointer, value, limit)
  const { parameter } = slot
  let read: unknown
  try {
    const text = writeParameter(parameterRow(writer.api, writer.slot.parameter), value)
    if (text === undefined) return { faults: [{ path: [], issue: 'cannot be sent' }], value }
    read = decode(contractOf(api, parameter), parameter, text)
  } catch (error) {
    if (!(error instanceof ParameterError || error instanceof ClientError)) throw error
    return {
      faults: [{ path: [], issue: error instanceof ClientError ? error.message : error.issue }],
      value,
    }
  }
  return validate(api, pointer, read, limit)
}

function validate(api: Api, pointer: string, value: unknown, limit: number): ValueReading {
  const faults = explain(api.document, pointer, value, FORMAT_CHECKS, limit)
  return { faults: faults.map((each) => ({ path: each.path, issue: issueOf(each) })), value }
}

function decode(contract: Parameter, { in: where, name }: ApiParameter, text: string): unknown {
  if (where === 'path') return readSegment(contract, text)
  if (where === 'header') return readHeader(contract, text)
  return readQuery(createQueryTable([contract]), text)[name]
}

function contractOf(api: Api, parameter: ApiParameter): Parameter {
  const encoding = parameterEncoding(api, parameter)
  return {
    name: parameter.name,
    type: scalarTypes(api, parameter.schema)[0]!,
    ...(encoding && { encoding }),
    required: parameter.required,
    set: false,
    validate: () => true,
    pointer: parameter.schema.place.pointer,
  }
}

/** Returns whether the schema in a slot declares the value at a path in messages of this direction. */
export function declares(api: Api, slot: Slot, path: ValuePath, hidden: Hidden): boolean {
  const found = propertyAt(
    api,
    schemaIn(slot),
    path.map((each) => (typeof each === 'number' ? `[${each}]` : each)),
  )
  return found !== undefined && found[hidden] !== true
}
