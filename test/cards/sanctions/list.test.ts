/** Lists as OFAC writes them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { compareBirths, readBirths } from '../../../runtime/cards/sanctions/births.ts'
import { parseCsv } from '../../../runtime/cards/sanctions/csv.ts'
import { readList } from '../../../runtime/cards/sanctions/list.ts'
import { createMatcher } from '../../../runtime/cards/sanctions/matcher.ts'
import { createSteps } from '../../../runtime/platform/fairness/pauses.ts'

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
      weakAliases: [],
      wallets: [],
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
      weakAliases: [],
      wallets: [],
    },
  ])
})

test('addresses on chains are read from remarks, and from those that continue them', async () => {
  const remarks =
    'DOB 1961; Digital Currency Address - ETH 0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb; alt. Digital Currency Address - XBT 12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h; alt. Digital Currency Address - USDT TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t; Digital Currency Address - BSC 0x5aAeb6053F3E94C9b9A0'
  write({
    'sdn.csv': `7,"VOLKOV, Dmitri",individual,"T",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,"${remarks}"\r\n`,
    'SDN_COMMENTS.CSV':
      '7,"9f33669435E7Ef1BeAed; Digital Currency Address - XBT BC1QAR0SRRR7XFKVY5L643LYDNW9RE59GTZZWF5MDQ."\r\n',
  })
  const { entries } = await readList(folder)
  const { findWallet } = await createMatcher(entries)
  const found = (account: string) => findWallet(account)?.id
  expect(found('eip155:8453:0xd1220a0cf47c7b9be7a2e6ba89f429762e7b9adb')).toBe('7')
  expect(found('0xD1220A0CF47C7B9BE7A2E6BA89F429762E7B9ADB'.replace('X', 'x'))).toBe('7')
  expect(found('eip155:1:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed')).toBe('7')
  expect(found('12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h')).toBe('7')
  expect(found('12qtd5bfwrsdnsazy76uve1xycgntojh9h')).toBe(undefined)
  expect(found('bip122:000000000019d6689c085ae165831e93:bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq')).toBe(
    '7',
  )
  expect(found('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t')).toBe('7')
  // The address that the same key has on Ethereum.
  expect(found('0xa614f803b6fd780986a42c78ec9c7f77e6ded13c')).toBe('7')
  expect(found('0x52908400098527886E0F7030069857D2E4169EE7')).toBe(undefined)
  expect(entries[0]!.births).toEqual([{ from: '1961-01-01', to: '1961-12-31' }])
})

/** Lines in the form of OFAC's FAQ 123, and of remarks that are continued in `sdn_comments.csv`. */
const WEAK = [
  `8219,"ALLANE, Hacene","individual","SDGT",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,"DOB 17 Jan 1941; POB El Menea, Algeria; a.k.a. 'ABU AL-FOUTOUH'; a.k.a. 'BOULAHIA'; a.k.a. 'HASSAN THE OLD'."`,
  '306,"BANCO NACIONAL DE CUBA",-0- ,"CUBA",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,"a.k.a. ""BNC""."',
  `27307,"LAZARUS GROUP",-0- ,"DPRK3",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,"f.k.a. 'ABU-'UMAR'; Linked To: RECONNAISSANCE GENERAL BUREAU; a.k.a. 'THE NEW ROMANTIC CYBER ARMY TEAM'; a.k.a. 'ANDARIEL KIN"`,
].join('\r\n')

test('weak aliases are read from remarks, and who is linked is no name', async () => {
  const comments = "27307,\"G TEAM'; a.k.a. 'APT-C-26'; Linked To: KOREA TRADING S.A. a.k.a. 'KT'.\"\r\n"
  write({ 'sdn.csv': WEAK, 'sdn_comments.csv': comments })
  const { entries } = await readList(folder)
  expect(entries.map(({ id, names, weakAliases }) => [id, names, weakAliases])).toEqual([
    ['8219', ['ALLANE, Hacene'], ['ABU AL-FOUTOUH', 'BOULAHIA', 'HASSAN THE OLD']],
    ['306', ['BANCO NACIONAL DE CUBA'], ['BNC']],
    [
      '27307',
      ['LAZARUS GROUP'],
      ["ABU-'UMAR", 'THE NEW ROMANTIC CYBER ARMY TEAM', 'ANDARIEL KING TEAM', 'APT-C-26'],
    ],
  ])
})

test.each([
  ['Abu al-Foutouh', ['8219']],
  ['BOULAHIA', ['8219']],
  ['Old, Hassan the', ['8219']],
  ['Abu Umar', ['27307']],
  ['Nadia Boulahia', []],
  ['Abu al-Foutouh Hamza', []],
  ['Abu al-Futuh', []],
  ['Reconnaissance General Bureau', []],
  ['Korea Trading', []],
])('a weak alias finds %s only where it is the whole name', async (name, ids) => {
  write({ 'sdn.csv': WEAK })
  const { match } = await createMatcher((await readList(folder)).entries)
  const found = match({ type: 'individual', name, date_of_birth: null, billing_address: null })
  expect(found.map(({ entry }) => entry.id)).toEqual(ids)
})

test('a change of a weak alias changes its entry', async () => {
  const read = async (text: string) => {
    write({ 'sdn.csv': text })
    return (await readList(folder)).entries.map(({ hash }) => hash)
  }
  const [before, after] = [await read(WEAK), await read(WEAK.replace('BOULAHIA', 'BOULAHYA'))]
  expect(after.map((hash, at) => hash !== before[at])).toEqual([true, false, false])
})

test.each(['vessel', 'aircraft'])(
  'the addresses on chains of a %s are screened, its name is not',
  async (type) => {
    const craft = (id: number, name: string, remarks: string) =>
      `${id},"${name}",${type},"T",-0- ,"9Z",Tanker,-0- ,-0- ,Panama,-0- ,"${remarks}"`
    const wallet = `0x${'5'.repeat(40)}`
    write({
      'sdn.csv': [
        SDN,
        craft(51, 'AMAN JANE', `IMO 1; Digital Currency Address - ETH ${wallet}; a.k.a. 'AMY JANE'.`),
        craft(52, 'NORA QUILL', 'IMO 2; Linked To: NOBODY.'),
      ].join('\r\n'),
    })
    const { entries } = await readList(folder)
    expect(entries.map(({ id }) => id)).toEqual(['36', '7', '51'])
    const matcher = await createMatcher(entries)
    expect(matcher.findWallet(wallet)?.id).toBe('51')
    const names = ['Aman Jane', 'Amy Jane', 'Nora Quill']
    const subjects = names.map(
      (name) => ({ type: 'company', name, date_of_birth: null, billing_address: null }) as const,
    )
    expect(subjects.flatMap(matcher.match)).toEqual([])
  },
)

test('a record that cannot be read is passed over, and the others are read', async () => {
  write({ 'sdn.csv': `${SDN.replace('36,"AEROCARIBBEAN AIRLINES"', '36,""')}\r\n` })
  const { entries, broken } = await readList(folder)
  expect(entries.map(({ id }) => id)).toEqual(['7'])
  expect(broken).toEqual([{ id: '36', record: 1, problem: 'has no name' }])
})

test('a name that cannot be compared is left out, and the others are compared', async () => {
  const { entries } = await readList(undefined)
  const [first, second] = entries
  const broken = { ...first!, names: [undefined as never, ...first!.names] }
  const { unread, match } = await createMatcher([broken, second!])
  expect(unread).toEqual([{ id: first!.id, problem: expect.stringMatching(/TypeError/) }])
  const nameOf = (name: string) => name.split(', ').toReversed().join(' ')
  for (const entry of [broken, second!]) {
    const subject = { type: 'individual', date_of_birth: null, billing_address: null } as const
    expect(match({ ...subject, name: nameOf(entry.names.at(-1)!) }).map((each) => each.entry.id)).toContain(
      entry.id,
    )
  }
})

test('the version of a list follows from its contents alone', async () => {
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
])('a folder with %s is refused as a sanctions list', async (_about, files) => {
  write(files)
  await expect(readList(folder)).rejects.toThrow(/sdn\.csv|quote/)
})

test('the list that comes with the service is one', async () => {
  const { name, entries } = await readList(undefined)
  expect([name, entries.length > 10]).toEqual(['Test list', true])
})

test('a record of a list may hold commas, quotes and line breaks', async () => {
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
])('a birth date is compared: %s and %s are %s', (remarks, date, evidence) => {
  expect(compareBirths(date, readBirths(remarks))).toBe(evidence)
})
