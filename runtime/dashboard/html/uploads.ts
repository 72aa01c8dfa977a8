/** Reads forms with files (RFC 7578) into memory, up to a maximum size. */
import express, { type NextFunction, type Request, type RequestHandler } from 'express'

export interface UploadedFile {
  readonly name: string
  readonly bytes: Buffer
}

const files = new WeakMap<Request, ReadonlyMap<string, UploadedFile>>()

/** Reads `multipart/form-data` and sets its text fields as `request.body`. @param maxBytes maximum size of the form. */
export function readUploads(maxBytes: number): RequestHandler[] {
  return [express.raw({ type: 'multipart/form-data', limit: maxBytes }), readParts]
}

async function readParts(request: Request, _response: unknown, next: NextFunction): Promise<void> {
  const body: unknown = request.body
  if (!Buffer.isBuffer(body)) return next()
  const form = await parse(body, request.get('Content-Type') ?? '')
  if (!form) return next(Object.assign(new Error('the form is not multipart/form-data'), { status: 400 }))
  const found = new Map<string, UploadedFile>()
  const fields: Record<string, string[]> = Object.create(null)
  for (const [name, value] of form) {
    if (typeof value === 'string') fields[name] = [...(fields[name] ?? []), value]
    else if (value.size > 0)
      found.set(name, { name: value.name, bytes: Buffer.from(await value.arrayBuffer()) })
  }
  request.body = fields
  files.set(request, found)
  next()
}

/** Returns undefined if the body is not valid multipart data. */
async function parse(body: Buffer, type: string): Promise<FormData | undefined> {
  try {
    return await new Response(new Uint8Array(body), { headers: { 'Content-Type': type } }).formData()
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** Returns the names of the fields with an uploaded file. */
export const uploadedNames = (request: Request): readonly string[] => [...(files.get(request)?.keys() ?? [])]

/** Returns undefined if no file was selected. */
export function uploadedFile(request: Request, name: string): UploadedFile | undefined {
  return files.get(request)?.get(name)
}
