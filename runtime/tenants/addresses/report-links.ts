/** Links to report files. They need no key: anyone with the link can download the file until the report expires. */
import type { Environment } from '../../platform/environment.ts'
import { deriveSecret } from '../../platform/secrets.ts'
import { readPlaceToken, writePlaceToken } from './place-tokens.ts'

const FORMATS = ['csv', 'json', 'pdf'] as const

export type ReportFormat = (typeof FORMATS)[number]

/** Identifies a file. */
export interface FilePlace {
  readonly space: string
  readonly reportId: string
  readonly format: ReportFormat
}

export interface ReportLinks {
  /** Returns the URL, such as `https://api.example.com/reports/…`. */
  address(place: FilePlace): string
  /** Reads the last path segment of a URL. Returns undefined unless this deployment wrote it. */
  read(token: string): FilePlace | undefined
}

export function createReportLinks(pepper: string, environment: Environment, baseUrl: string): ReportLinks {
  const key = deriveSecret(pepper, `reports of ${environment}`)
  return {
    address: ({ space, reportId, format }) =>
      `${baseUrl}/reports/${writePlaceToken(key, { kind: FORMATS.indexOf(format), space, id: reportId })}`,
    read(token) {
      const place = readPlaceToken(key, 'trp', token)
      const format = place && FORMATS[place.kind]
      return format && { space: place.space, reportId: place.id, format }
    },
  }
}

export function openReportLinks(
  pepper: string,
  baseUrls: Readonly<Record<Environment, string>>,
): Readonly<Record<Environment, ReportLinks>> {
  return {
    sandbox: createReportLinks(pepper, 'sandbox', baseUrls.sandbox),
    live: createReportLinks(pepper, 'live', baseUrls.live),
  }
}
