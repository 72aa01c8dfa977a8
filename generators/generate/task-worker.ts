/** The thread that does chores. */
import { enableCompileCache } from 'node:module'
import { parentPort } from 'node:worker_threads'
import { perform } from './task.ts'
import { type Chore, type ChoreAnswer, END } from './tasks.ts'

enableCompileCache()
let last: Promise<void> = Promise.resolve()
parentPort?.on('message', (chore: Chore | typeof END) => {
  if (chore === END) parentPort?.close()
  else last = last.then(async () => parentPort?.postMessage(await answer(chore)))
})

async function answer(chore: Chore): Promise<ChoreAnswer> {
  try {
    return { result: await perform(chore) }
  } catch (error) {
    return { error }
  }
}
