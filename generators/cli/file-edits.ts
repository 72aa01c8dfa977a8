/** Edits of several files that are all made, or none. */
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../cache/make-folder.ts'

/** The new content of each file; undefined removes it. */
export type FileEdits = ReadonlyMap<string, string | Buffer | undefined>

/**
 * Makes the edits, then calls a function that depends on them. If either throws, every file is as it was before.
 *
 * @throws what the function or the file system throws.
 */
export async function withEdits<Result>(edits: FileEdits, then: () => Promise<Result>): Promise<Result> {
  const before = new Map([...edits.keys()].map((file) => [file, contentOf(file)]))
  try {
    write(edits)
    return await then()
  } catch (error) {
    write(before)
    throw error
  }
}

const contentOf = (file: string): Buffer | undefined => (existsSync(file) ? readFileSync(file) : undefined)

/** Writes first and removes last, so that an interrupted run loses nothing. Removes folders that become empty. */
function write(edits: FileEdits): void {
  for (const [file, content] of edits) {
    if (content === undefined) continue
    makeFolder(dirname(file))
    writeFileSync(file, content)
  }
  for (const [file, content] of edits) {
    if (content !== undefined) continue
    rmSync(file, { force: true })
    for (let folder = dirname(file); isEmpty(folder); folder = dirname(folder)) rmdirSync(folder)
  }
}

const isEmpty = (folder: string): boolean => existsSync(folder) && readdirSync(folder).length === 0
