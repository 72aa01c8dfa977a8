import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Pool } from '../../database/pool/pool.ts'
import { readSpace } from '../../database/space.ts'
import {
  type HolderRequest,
  type HolderRoute,
  nothingHere,
  requireMethod,
} from '../../passes/wallets/pages/holders.ts'
import type { ReportFormat, ReportLinks } from '../../tenants/addresses/report-links.ts'
import { readReport, type WrittenFile } from './queries.ts'
import { readPiece } from './work-queries.ts'

export interface ReportFileParts {
  readonly database: Pick<Pool, 'forTenant'>
  readonly links: Pick<ReportLinks, 'read'>
}

const TYPES: Readonly<Record<ReportFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  json: 'application/json',
  pdf: 'application/pdf',
}

/** `/reports/{token}`: downloads a file of a report until the report expires. */
export function reportFileRoute(parts: ReportFileParts): HolderRoute {
  return (visit) => {
    requireMethod(visit, 'GET', 'HEAD')
    return send(parts, visit)
  }
}

async function send(
  { database, links }: ReportFileParts,
  { request, response, rest, now }: HolderRequest,
): Promise<void> {
  const place = links.read(rest)
  if (!place) throw nothingHere()
  const { space, reportId, format } = place
  const db = database.forTenant(readSpace(space).tenantId)
  const report = await readReport(db, space, reportId)
  const file = report?.result?.files.find((each) => each.format === format)
  if (!file || (report?.expires_at ?? 0) <= now) throw nothingHere()
  response.writeHead(200, headersOf(reportId, file))
  if (request.method !== 'HEAD') {
    for (let position = 0, sent = 0; sent < file.size; position += 1) {
      const piece = await readPiece(db, space, reportId, { format, position })
      if (!piece) return void response.destroy() // deleted during the download: the client notices because Content-Length does not match
      sent += piece.length
      if (!(await write(response, piece))) return
    }
  }
  response.end()
}

function headersOf(reportId: string, { format, size, sha256 }: WrittenFile): string[] {
  return [
    ...['Content-Type', TYPES[format]],
    ...['Content-Length', String(size)],
    ...['Content-Disposition', `attachment; filename="${reportId}.${format}"`],
    ...['ETag', `"${sha256}"`],
    ...['Cache-Control', 'private, no-store'],
    ...['X-Content-Type-Options', 'nosniff'],
  ]
}

/**
 * Writes a piece, and waits until a slow client has received it, so that memory holds only one piece. Returns false if the
 * client has disconnected.
 */
async function write(response: ServerResponse, piece: Buffer): Promise<boolean> {
  if (response.destroyed) return false
  if (response.write(piece)) return true
  await Promise.race([once(response, 'drain'), once(response, 'close')])
  return !response.destroyed
}
