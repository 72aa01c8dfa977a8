/**
 * The two slow tasks of a document, each done once for one text: Redocly's rules and openapi-typescript's types.
 * Large documents go to worker threads, one for each kind, so that both run beside everything else.
 */

import { Worker } from 'node:worker_threads'
import { type Cache, hashOf, toolkitHash } from '../cache/cache.ts'
import type { Problem } from '../document/lint.ts'
import type { LoadedDocument } from '../document/load.ts'
import type { Task, TaskKind } from './task.ts'

/** Tells a worker that nothing more comes, so that what it holds is free for others. */
export const END = 'end'

/** What a worker answers. */
export type TaskAnswer = { readonly result: string } | { readonly error: unknown }

export interface Tasks {
  lint(document: LoadedDocument): Promise<Problem[]>
  types(document: LoadedDocument): Promise<string>
}

/** Below this many characters a worker takes longer to start than the task takes. */
const WORTH_A_WORKER = 150_000

/** @param cache holds what is done. @param documents all that will be asked about. */
export function createTasks(cache: Cache, documents: readonly LoadedDocument[]): Tasks {
  const large = documents.reduce((sum, document) => sum + document.text.length, 0) > WORTH_A_WORKER
  const workers = new Map<TaskKind, TaskWorker>()
  const perform = async (task: Task): Promise<string> => {
    if (!large) return (await import('./task.ts')).perform(task)
    const worker = workers.get(task.kind) ?? startWorker(() => workers.delete(task.kind))
    workers.set(task.kind, worker)
    return worker.perform(task)
  }
  const once = async (kind: TaskKind, document: LoadedDocument): Promise<string> => {
    // The name of the file stands in nothing that is kept.
    const { file, text, json } = document
    const key = `${kind}-${hashOf(toolkitHash(), text)}`
    const known = cache.read(key)
    if (known !== undefined) return known
    const made = await perform({ kind, file, text: kind === 'lint' ? text : '', json })
    cache.write(key, made)
    return made
  }
  return {
    lint: async (document) => JSON.parse(await once('lint', document)) as Problem[],
    types: (document) => once('types', document),
  }
}

interface TaskWorker {
  perform(task: Task): Promise<string>
}

/** A thread that takes one task after the other and ends after the last. @param ended is told of that. */
function startWorker(ended: () => void): TaskWorker {
  const worker = new Worker(new URL('./task-worker.ts', import.meta.url))
  const waiting: { resolve: (text: string) => void; reject: (error: unknown) => void }[] = []
  worker.on('message', (answer: TaskAnswer) => {
    const first = waiting.shift()
    if (waiting.length === 0) {
      ended()
      worker.postMessage(END)
    }
    if ('error' in answer) first?.reject(answer.error)
    else first?.resolve(answer.result)
  })
  worker.on('error', (error) => {
    ended()
    for (const each of waiting.splice(0)) each.reject(error)
  })
  return {
    perform: (task) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        worker.postMessage(task)
      }),
  }
}
