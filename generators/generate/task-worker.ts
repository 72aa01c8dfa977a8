/** Worker thread that performs tasks. */
import module from 'node:module'
import { parentPort } from 'node:worker_threads'
import { perform, type Task } from './task.ts'
import { END, type TaskAnswer } from './tasks.ts'

module.enableCompileCache?.()
let last: Promise<void> = Promise.resolve()
parentPort?.on('message', (task: Task | typeof END) => {
  if (task === END) parentPort?.close()
  else last = last.then(async () => parentPort?.postMessage(await answer(task)))
})

async function answer(task: Task): Promise<TaskAnswer> {
  try {
    return { result: await perform(task) }
  } catch (error) {
    return { error }
  }
}
