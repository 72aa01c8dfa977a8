/** How long an editor takes to show its first completions: from opening a new file to the list, through tsserver. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const CLIENT =
  "import { createClient } from '@dateline/passes/2026-05-19'\nconst client = createClient({ apiKey: '' })"
/** The types of the language and of Node are read for any program. */
const NO_CLIENT = 'const client = { passes: { create: 1 } }\n'

export interface Completion {
  /** Milliseconds of the server's processor time, which other programs on the machine affect less than the duration. */
  readonly processorMs: number
  readonly durationMs: number
  readonly names: readonly string[]
}

/** The library of programs for Node, as in `@tsconfig/node24`. Without `lib`, TypeScript also reads the types of browsers. */
export const NODE_LIBRARY = { lib: ['ES2023'] }

/**
 * @param project has the client and `typescript` installed.
 * @param options compiler options.
 * @returns the measurement, and that of a program without the client.
 */
export const measureCompletion = async (project: string, typescript: string, options: object) => ({
  client: await complete(project, typescript, CLIENT, options),
  none: await complete(project, typescript, NO_CLIENT, options),
})

async function complete(
  project: string,
  typescript: string,
  program: string,
  options: object,
): Promise<Completion> {
  const file = join(project, 'completed.ts')
  const fileContent = `${program}\nclient.passes.`
  writeFileSync(file, fileContent)
  const compilerOptions = { strict: true, target: 'ES2023', module: 'NodeNext', types: ['node'], ...options }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['completed.ts'] }))
  const words = [
    join(project, 'node_modules', typescript, 'lib/tsserver.js'),
    '--disableAutomaticTypingAcquisition',
  ]
  const server = spawn(process.execPath, words, { cwd: project, stdio: ['pipe', 'pipe', 'inherit'] })
  const send = (seq: number, command: string, given: object) =>
    server.stdin.write(`${JSON.stringify({ seq, type: 'request', command, arguments: given })}\n`)
  const lines = createInterface(server.stdout)[Symbol.asyncIterator]()
  const answer = async (seq: number) => {
    for (let line = await lines.next(); !line.done; line = await lines.next()) {
      const message = line.value.startsWith('{') ? JSON.parse(line.value) : {}
      if (message.request_seq === seq) return message.body
    }
    throw new Error('tsserver ended')
  }
  send(1, 'configure', {})
  await answer(1)
  const started = { duration: performance.now(), processor: processorMs(server.pid!) }
  send(2, 'open', { file, fileContent, projectRootPath: project })
  send(3, 'completionInfo', { file, line: 3, offset: 'client.passes.'.length + 1, triggerCharacter: '.' })
  const { entries } = (await answer(3)) as { readonly entries: readonly { readonly name: string }[] }
  const completion = {
    processorMs: processorMs(server.pid!) - started.processor,
    durationMs: performance.now() - started.duration,
    names: entries.map(({ name }) => name),
  }
  server.kill()
  await once(server, 'close')
  return completion
}

/** Clock ticks of Linux, 100 a second. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
