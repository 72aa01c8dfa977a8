/** Which index a list goes along for the filters that it is asked for, and what it checks beside that. */
import { expect, test } from 'vitest'
import type { Database } from '../../runtime/database/database.ts'
import { defineList, type RecordFilter } from '../../runtime/database/define-list.ts'

const list = defineList<{ readonly id: string }, 'listPayouts'>({
  operation: 'listPayouts',
  table: 'payouts',
  alias: 'p',
  columns: 'p.id',
  filters: { status: 'p.status', destination_id: 'p.destination_id', settlement_id: 'p.settlement_id' },
  indexes: [[], ['status'], ['destination_id', 'status'], ['settlement_id']],
  partial: { settlement_id: 'p.settlement_id IS NOT NULL' },
})

/** Columns of the index, and what is checked in each record beside its place in it. */
async function walkFor(filter: Omit<RecordFilter<'listPayouts'>, 'created'>) {
  const sent: { text: string; values: readonly unknown[] }[] = []
  const db = {
    query: async ({ text }: { text: string }, values: readonly unknown[]) => {
      sent.push({ text, values })
      return { rows: [], count: 0 }
    },
  } as unknown as Database
  await list(db, 'ten_1', { ...filter, created: {} }, { limit: 2, order: 'asc', backward: false })
  const { text = '', values = [] } = sent[0] ?? {}
  const [, beside = '', columns = ''] = /tenant_id = \$1 (?:AND (.*?) )?AND \((.*?)\) >= /.exec(text) ?? []
  return { columns: columns.replaceAll('p.', ''), beside, values: values.filter(Array.isArray) }
}

const ALL = ['pending', 'in_transit', 'paid', 'failed', 'canceled', 'returned']

test.each([
  ['nothing', {}, 'created, id', '', []],
  ['one value', { status: ['paid'] }, 'status, created, id', '', []],
  ['two values', { status: ['paid', 'failed'] }, 'status, created, id', '', [['paid', 'failed']]],
  [
    'a filter whose index holds values that the document lists',
    { destination_id: ['pod_1'] },
    'destination_id, status, created, id',
    '',
    [ALL.map(() => 'pod_1'), ALL],
  ],
  [
    'a filter with a partial index',
    { settlement_id: ['stl_1'] },
    'settlement_id, created, id',
    'p.settlement_id IS NOT NULL',
    [],
  ],
  [
    'filters of which no index holds all',
    { status: ['paid'], destination_id: ['pod_1'], settlement_id: ['stl_1'] },
    'settlement_id, created, id',
    'p.settlement_id IS NOT NULL AND p.status = ANY ($2::text[]) AND p.destination_id = ANY ($3::text[])',
    [['paid'], ['pod_1']],
  ],
] as const)('asked for %s', async (_, filter, columns, beside, values) => {
  expect(await walkFor(filter)).toEqual({ columns, beside, values })
})

test('a list that is asked for no value of a filter sends nothing', async () => {
  expect(await walkFor({ status: [] })).toEqual({ columns: '', beside: '', values: [] })
})

test('a filter of the document without SQL does not compile, nor one that the document lacks', () => {
  const rest = { operation: 'listCards', table: 'cards', alias: 'c', columns: 'c.id', indexes: [[]] } as const
  const cardholder_id = 'c.cardholder_id'
  // @ts-expect-error: `type` is missing.
  defineList<{ id: string }, 'listCards'>({ ...rest, filters: { status: 'c.status', cardholder_id } })
  const filters = { status: 'c.status', type: 'c.type', cardholder_id }
  // @ts-expect-error: the document has no filter `color`.
  defineList<{ id: string }, 'listCards'>({ ...rest, filters: { ...filters, color: 'c.color' } })
  // @ts-expect-error: no filter is called `color`.
  defineList<{ id: string }, 'listCards'>({ ...rest, filters, indexes: [['color']] })
  expect(defineList<{ id: string }, 'listCards'>({ ...rest, filters })).toBeTypeOf('function')
})
