/** The tutorial of the toolkit, followed as it is printed: with the packed toolkit, in an empty folder, step by step. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT, until } from '../support/programs.ts'
import { install, pack } from '../toolkit/packed.ts'
import { applyDiff, type FencedBlock, fencedBlocks } from './page.ts'
import { type Desk, openDesk, type Terminal } from './terminal.ts'

const PATIENCE_MS = 120_000

/** Installing takes a registry: what npm would install is in the folder above. */
const PROFILE =
  'npm() { if [ "$1" = install ]; then ln -s ../node_modules node_modules; else command npm "$@"; fi; }\n'

function prepare(directory: string): void {
  install(pack(), directory)
  const programs = join(directory, 'node_modules/.bin')
  mkdirSync(programs)
  symlinkSync('../dateline/dist/cli.js', join(programs, 'dateline'))
  chmodSync(join(programs, 'dateline'), 0o755)
  symlinkSync('../typescript/bin/tsc', join(programs, 'tsc'))
}

const page = readFileSync(join(ROOT, 'docs/toolkit/tutorial.md'), 'utf8')
const steps = page
  .split(/^## /m)
  .slice(1)
  .map((text) => ({ title: text.split('\n')[0]!, blocks: fencedBlocks(text) }))
  .filter(({ blocks }) => blocks.length > 0)

describe('the tutorial', { timeout: PATIENCE_MS }, () => {
  let desk: Desk
  let first: Terminal
  let second: Terminal
  let isServing = false
  let done = 0
  let shown = ''

  beforeAll(async () => {
    desk = await openDesk({ prepare, profile: PROFILE, programs: [dirname(process.execPath)] })
    first = desk.open()
    second = desk.open()
  }, PATIENCE_MS)
  afterAll(() => desk.close(), PATIENCE_MS)

  async function serve(command: string): Promise<void> {
    if (isServing) {
      await first.interrupt()
      first = desk.open()
      await first.run('cd shop')
    }
    isServing = true
    const before = first.shown().length
    first.start(command)
    await until(command, () => /http:\/\/\S+:\d+/.test(first.shown().slice(before)), PATIENCE_MS)
  }

  async function type(commands: string, fails: boolean): Promise<void> {
    for (const command of commands.trim().split('\n')) {
      const { code, output } = await (isServing ? second : first).run(command)
      expect([command, code !== 0, output]).toEqual([command, fails, expect.any(String)])
      shown = output.replaceAll('\r', '')
    }
  }

  async function follow({ language, title, text }: FencedBlock): Promise<void> {
    if (language === 'sh' && title === 'First terminal') return serve(text)
    if (language === 'sh') return type(text, title === 'Fails')
    if (title === 'Output') return expect(shown).toBe(text.trimEnd())
    if (title === 'Part of the output') return expect(shown).toContain(text.trimEnd())
    const file = join(desk.directory, 'shop', title)
    mkdirSync(dirname(file), { recursive: true })
    if (language === 'diff') writeFileSync(file, applyDiff(title, readFileSync(file, 'utf8'), text))
    else writeFileSync(file, text)
  }

  // One after the other: each needs those before.
  test.each(steps.map((step, index) => ({ ...step, index })))(
    'works as printed: $title',
    async ({ blocks, index }) => {
      expect(done, 'steps before this one').toBe(index)
      for (const block of blocks) await follow(block)
      done++
    },
  )

  test('leaves a client of sources only, since the package also holds compiled files', () => {
    const client = readdirSync(join(desk.directory, 'shop/generated/client/src'), {
      recursive: true,
      encoding: 'utf8',
    })
    expect(client.filter((file) => /\.(?:js|d\.ts)$/.test(file))).toEqual([])
    expect(client).toContain('runtime/call.ts')
  })
})
