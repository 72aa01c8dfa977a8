/**
 * The two slow tasks of a document: linting with Redocly, and generating types with openapi-typescript. Results are
 * cached by the document text. Large documents use one worker thread for each kind, so that both tasks run in
 * parallel with the rest.
 */

import { Worker } from 'node:worker_threads'
import { type Cache, hashOf, toolkitHash } from '../cache/cache.ts'
import type { Problem } from '../document/lint.ts'
import type { LoadedDocument } from '../document/load.ts'
import type { TypeMapping } from '../ir/type-mapping.ts'
import type { Task, TaskKind } from './task.ts'

/** Message that tells a worker to exit, which frees its memory. */
export const END = 'end'

/** A worker's response. */
export type TaskAnswer = { readonly result: string } | { readonly error: unknown }

export interface Tasks {
  lint(document: LoadedDocument): Promise<Problem[]>
  /** @param types types that are not JSON types. */
  types(document: LoadedDocument, types?: TypeMapping): Promise<string>
}

/** Workers that outlive their tasks, for processes that generate repeatedly. */
let kept: Map<TaskKind, TaskWorker> | undefined

/** Keeps the workers of all further tasks. Each worker then holds the modules of its task, about 150 MB. */
export function keepTaskWorkers(): void {
  kept ??= new Map()
}

/** Number of characters below which starting a worker takes longer than the task. */
const WORTH_A_WORKER = 150_000

/**
 * @param cache stores results.
 * @param documents all documents that tasks will be requested for.
 */
export function createTasks(cache: Cache, documents: readonly LoadedDocument[]): Tasks {
  const large = documents.reduce((sum, document) => sum + document.text.length, 0) > WORTH_A_WORKER
  const workers = kept ?? new Map<TaskKind, TaskWorker>()
  const perform = async (task: Task): Promise<string> => {
    if (!large) return (await import('./task.ts')).perform(task)
    const worker = workers.get(task.kind) ?? startWorker(() => workers.delete(task.kind))
    workers.set(task.kind, worker)
    return worker.perform(task)
  }
  const once = async (kind: TaskKind, document: LoadedDocument, types?: TypeMapping): Promise<string> => {
    // The key leaves out the file name, because results do not contain it.
    const { file, text, json, hash } = document
    const key = `${kind}-${hashOf(toolkitHash(), hash, JSON.stringify(types ?? {}))}`
    const known = cache.read(key)
    if (known !== undefined) return known
    const made = await perform({
      kind,
      file,
      text: kind === 'lint' ? text : '',
      json,
      ...(types && { types }),
    })
    cache.write(key, made)
    return made
  }
  return {
    lint: async (document) => JSON.parse(await once('lint', document)) as Problem[],
    types: (document, types) => once('types', document, types),
  }
}

interface TaskWorker {
  perform(task: Task): Promise<string>
}

/**
 * Starts a thread that performs tasks in order and exits after the last one, unless workers are kept.
 *
 * @param ended called when the thread exits.
 */
function startWorker(ended: () => void): TaskWorker {
  const worker = new Worker(new URL('./task-worker.ts', import.meta.url))
  const waiting: { resolve: (text: string) => void; reject: (error: unknown) => void }[] = []
  worker.on('message', (answer: TaskAnswer) => {
    const first = waiting.shift()
    if (waiting.length === 0 && !kept) {
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
