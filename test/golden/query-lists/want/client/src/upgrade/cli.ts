#!/usr/bin/env node
// @ts-nocheck
/** The command of a client package: `npx @acme/books upgrade 2030-01-01 2030-06-01`. */
import { readFileSync } from 'node:fs'
import { run } from './command.ts'

const manifest = JSON.parse(readFileSync(new URL('../../upgrade.json', import.meta.url), 'utf8'))
process.exitCode = await run(process.argv.slice(2), manifest, process.cwd(), {
  out: (text) => void process.stdout.write(`${text}\n`),
  error: (text) => void process.stderr.write(`${text}\n`),
})
