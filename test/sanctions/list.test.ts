/** Lists as OFAC writes them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSteps } from '../../runtime/platform/fairness/pauses.ts'
import { compareBirths, readBirths } from '../../runtime/sanctions/births.ts'
import { parseCsv } from '../../runtime/sanctions/csv.ts'
import { readList } from '../../runtime/sanctions/list.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-list-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const SDN = [
  '36,"AEROCARIBBEAN AIRLINES",-0- ,"CUBA",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ',
  '7,"VOLKOV, Dmitri ""Dima""",individual,"T",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,"DOB 14 Mar 1961; alt. DOB 1962; POB Nowhere."',
  '8,"GREY HERON",vessel,"T",-0- ,"9Z",Tanker,-0- ,-0- ,Panama,-0- ,-0- ',
].join('\r\n')

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
}

test('people and organisations are read with their other names, dates of birth and cities', async () => {
  write({
    'SDN.CSV': `${SDN}\r\n\x1a`,
    'alt.csv': '36,12,"aka","AERO-CARIBBEAN",-0- \r\n7,13,"fka","VOLKOFF, Dmitry",-0- \r\n\x1a',
    'add.csv': '36,25,-0- ,"Havana","Cuba",-0- \r\n7,26,"Street, 1","-0-","Russia",-0- \r\n\x1a',
  })
  const list = await readList(folder)
  expect(list.name).toBe('OFAC SDN')
  expect(list.entries.map(({ hash: _, ...entry }) => entry)).toEqual([
    {
      id: '36',
      type: 'entity',
      names: ['AEROCARIBBEAN AIRLINES', 'AERO-CARIBBEAN'],
      births: [],
      places: ['Havana, Cuba'],
    },
    {
      id: '7',
      type: 'individual',
      names: ['VOLKOV, Dmitri "Dima"', 'VOLKOFF, Dmitry'],
      births: [
        { from: '1961-03-14', to: '1961-03-14' },
        { from: '1962-01-01', to: '1962-12-31' },
      ],
      places: [],
    },
  ])
})

test('its version follows from its contents alone', async () => {
  write({ 'sdn.csv': SDN })
  const [one, other] = [await readList(folder), await readList(join(folder, 'sdn.csv'))]
  expect(one).toEqual(other)
  write({ 'alt.csv': '7,13,"fka","VOLKOFF, Dmitry",-0- ' })
  const changed = await readList(folder)
  expect(changed.version).not.toBe(one.version)
  const changes = changed.entries.map(({ hash }, at) => hash !== one.entries[at]!.hash)
  expect(changes).toEqual([false, true])
})

test.each<[string, Readonly<Record<string, string>>]>([
  ['nothing', {}],
  ['no sdn.csv', { 'alt.csv': '7,13,"fka","A",-0- ' }],
  ['an empty sdn.csv', { 'sdn.csv': '' }],
  ['another format', { 'sdn.csv': 'uid,last name\r\n1,Volkov' }],
  ['a record that was cut off', { 'sdn.csv': `${SDN}\r\n9,"PETROV, Ivan",individual` }],
  ['a quote without its end', { 'sdn.csv': '7,"VOLKOV, Dmitri,individual' }],
])('%s is no list', async (_about, files) => {
  write(files)
  await expect(readList(folder)).rejects.toThrow(/sdn\.csv|quote/)
})

test('the list that comes with the service is one', async () => {
  const { name, entries } = await readList(undefined)
  expect([name, entries.length > 10]).toEqual(['Test list', true])
})

test('records may hold commas, quotes and line breaks', async () => {
  expect(await parseCsv('a, b ,"c ""d"", e"\r\n"f\ng",,\n\x1a', createSteps())).toEqual([
    ['a', 'b', 'c "d", e'],
    ['f\ng', '', ''],
  ])
})

test.each([
  ['DOB 14 Mar 1961; POB X.', '1961-03-14', 'same'],
  ['DOB 14 Mar 1961; POB X.', '1961-03-15', 'unknown'],
  ['DOB 04 Mar 1961.', '1961-04-03', 'near'],
  ['DOB 14 Mar 1961.', '1963-03-14', 'other'],
  ['DOB Mar 1961.', '1961-03-30', 'near'],
  ['DOB 1961.', '1961-12-31', 'near'],
  ['DOB circa 1961.', '1963-06-01', 'near'],
  ['DOB circa 1961.', '1965-06-01', 'other'],
  ['DOB 1958 to 1961.', '1960-01-01', 'near'],
  ['DOB 01 Jan 1950; alt. DOB 14 Mar 1961.', '1961-03-14', 'same'],
  ['POB Nowhere.', '1961-03-14', 'unknown'],
  ['DOB sometime.', '1961-03-14', 'unknown'],
])('%s and %s: %s', (remarks, date, evidence) => {
  expect(compareBirths(date, readBirths(remarks))).toBe(evidence)
})
