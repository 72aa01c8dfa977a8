/** Which backups and WAL segments are kept, and which backup a time is restored from. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  type BackupManifest,
  chooseBackup,
  chooseExpired,
  segmentsBetween,
} from '../../runtime/database/backup/backup-folder.ts'
import { archiveInto, restoreCommand } from '../../runtime/database/embedded/archive.ts'

const backup = (day: number, first_segment: string): BackupManifest => ({
  ...{
    format: 1,
    id: `2026110${day}`,
    started: `2026-11-0${day}T02:00:00.000Z`,
    ended: `2026-11-0${day}T02:05:00.000Z`,
  },
  ...{
    postgres: '18',
    system: '1',
    timeline: 1,
    start_lsn: '0/0',
    end_lsn: '0/0',
    first_segment,
    folders: [],
    files: {},
  },
})

const BACKUPS = [
  backup(1, '000000010000000000000003'),
  backup(2, '000000010000000000000008'),
  backup(3, '00000002000000000000000C'),
]

test('the newest backups are kept, with the segments that they need, on any timeline', () => {
  const archived = [
    '00000001000000000000000700000007', // not a segment, but begins like an old one
    '000000010000000000000007.gz',
    '000000010000000000000008.gz',
    '000000010000000000000008.00000028.backup.gz',
    '00000002.history.gz',
    '00000002000000000000000B.gz',
    '000000030000000000000007.gz.4711.unfinished',
  ]
  expect(chooseExpired(BACKUPS, archived, 2)).toEqual({
    backups: [BACKUPS[0]],
    segments: [archived[0], archived[1], archived[6]],
  })
  expect(chooseExpired(BACKUPS, archived, Number.POSITIVE_INFINITY)).toEqual({ backups: [], segments: [] })
  expect(chooseExpired([], archived, 2)).toEqual({ backups: [], segments: [] })
})

test('a time is restored from the newest backup that ended before it', () => {
  const at = (text: string) => Date.parse(text)
  expect(chooseBackup(BACKUPS, {}).id).toBe('20261103')
  expect(chooseBackup(BACKUPS, { to: at('2026-11-03T02:04:59.999Z') }).id).toBe('20261102')
  expect(chooseBackup(BACKUPS, { to: at('2026-11-03T02:05:00.000Z') }).id).toBe('20261103')
  expect(chooseBackup(BACKUPS, { id: '20261101' }).id).toBe('20261101')
  expect(() => chooseBackup(BACKUPS, { to: at('2026-11-01T00:00:00Z') })).toThrow(
    'no backup that ended before',
  )
  expect(() => chooseBackup(BACKUPS, { id: '20261103', to: at('2026-11-02T00:00:00Z') })).toThrow(
    'only to later times',
  )
  expect(() => chooseBackup([], {})).toThrow('no complete backup')
})

test('segments of a backup are those between its first and its last', () => {
  const names = [
    'archive_status',
    '000000010000000000000002',
    '000000010000000000000003',
    '000000010000000000000004',
  ]
  expect(segmentsBetween(names, names[2]!, names[3]!)).toEqual([names[2], names[3]])
})

test('a path in a command of PostgreSQL is quoted for the shell', () => {
  expect(restoreCommand(['/mnt/100% safe'])).toContain(`'/mnt/100%% safe'/"%f"`)
  expect(() => restoreCommand(["/mnt/it's"])).toThrow('must not contain a quote')
})

test('a segment is archived once: the same content again succeeds, and different content changes nothing', () => {
  const place = mkdtempSync(join(tmpdir(), 'svc archive-'))
  const [data, folder] = [join(place, 'data'), join(place, 'backup')]
  mkdirSync(join(data, 'pg_wal'), { recursive: true })
  const name = '000000010000000000000001'
  const run = (command: string | undefined, to: string) =>
    spawnSync('sh', ['-c', command!.replaceAll('%p', to).replaceAll('%f', name)], { cwd: data, env: {} })
      .status
  const archive = (content: string) => {
    writeFileSync(join(data, 'pg_wal', name), content)
    return run(archiveInto(folder, undefined).archive_command, `pg_wal/${name}`)
  }
  expect([archive('one'), archive('one'), archive('other')]).toEqual([0, 0, 1])
  expect(readdirSync(join(folder, 'wal'))).toEqual([`${name}.gz`])
  expect(run(restoreCommand([join(folder, 'wal')]), 'pg_wal/RECOVERYXLOG')).toBe(0)
  expect(readFileSync(join(data, 'pg_wal', 'RECOVERYXLOG'), 'utf8')).toBe('one')
  rmSync(place, { recursive: true })
})
