/** A bench that is interrupted leaves no folder, no process and nothing in the checkout. */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { endPrograms, isAlive, startProgram, until } from '../support/programs.ts'

let temporary: string
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'svc-interrupted-'))
  chmodSync(temporary, 0o711)
})
afterEach(async () => {
  await endPrograms()
  rmSync(temporary, { recursive: true, force: true })
})

/** Processes that were told of the folder, which are the bench's own; its database's server names it too. */
function processesOf(folder: string): { readonly id: number; readonly command: string }[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return ids.flatMap((id) => {
    try {
      const [command, environment] = ['cmdline', 'environ'].map((file) =>
        readFileSync(`/proc/${id}/${file}`, 'utf8'),
      )
      return `${command}${environment}`.includes(folder) ? [{ id: Number(id), command: String(command) }] : []
    } catch {
      return [] // has ended meanwhile
    }
  })
}

const bench = () =>
  startProgram(process.execPath, ['test/bench/requests.ts', '--seconds', '1'], { TMPDIR: temporary })

test.each([
  ['SIGINT', 130, 'its folder is made', () => readdirSync(temporary).length > 0],
  [
    'SIGTERM',
    143,
    'the service runs on its database',
    () => processesOf(temporary).some(({ command }) => command.includes('runtime/process/main.ts')),
  ],
] as const)('%s ends a bench with %i when %s', async (signal, code, what, reached) => {
  const before = readdirSync(import.meta.dirname)
  const program = bench()
  await until(what, reached)
  const processes = processesOf(temporary).map(({ id }) => id)
  expect(processes).toContain(program.pid)
  expect((await program.end(signal)).code).toBe(code)
  await until('every process to end', () => !processes.some(isAlive) && processesOf(temporary).length === 0)
  expect(readdirSync(temporary)).toEqual([])
  expect(readdirSync(import.meta.dirname)).toEqual(before)
})

test('no bench has a folder of its own making', () => {
  const benches = readdirSync(import.meta.dirname).filter((name) => /(?<!scratch|\.test)\.ts$/.test(name))
  const making = benches.filter((name) =>
    /\bmkdtemp/.test(readFileSync(join(import.meta.dirname, name), 'utf8')),
  )
  expect(making).toEqual([])
})
