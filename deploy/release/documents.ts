/** The documents of a release: the software bill of materials, the license list and the changes. */
import { createHash } from 'node:crypto'

interface SbomComponent {
  readonly name: string
  readonly version: string
  readonly licenses?: readonly (
    | { readonly license: { readonly id?: string; readonly name?: string } }
    | { readonly expression: string }
  )[]
}

/** The parts of a CycloneDX document that a release changes or reads. `npm sbom` writes it. */
export interface Sbom {
  readonly serialNumber: string
  readonly metadata: { readonly timestamp: string; readonly component: SbomComponent }
  readonly components: readonly SbomComponent[]
}

export interface SbomSource {
  /** Name of the package. npm writes the name of the folder. */
  readonly name: string
  readonly commit: string
  /** Time since the epoch. */
  readonly seconds: number
}

/** Replaces the random serial number, the time and the name of an SBOM, so that the same commit gives the same document. */
export function pinned(sbom: Sbom, { name, commit, seconds }: SbomSource): Sbom {
  const hex = createHash('sha256').update(`sbom ${commit}`).digest('hex')
  // RFC 9562, section 5.8: version 8 for UUIDs from a digest.
  const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  const timestamp = new Date(seconds * 1000).toISOString()
  const component = { ...sbom.metadata.component, name }
  return { ...sbom, serialNumber: `urn:uuid:${uuid}`, metadata: { ...sbom.metadata, timestamp, component } }
}

/**
 * Returns one line for each package: its name, version and license (SPDX). NOASSERTION is SPDX's word for a package
 * whose manifest names no license.
 */
export function licenseList({ components }: Sbom): string {
  const lines = components.map(({ name, version, licenses = [] }) => {
    const names = licenses.map((each) =>
      'expression' in each ? each.expression : (each.license.id ?? each.license.name ?? ''),
    )
    return `${name} ${version}: ${names.join(', ') || 'NOASSERTION'}\n`
  })
  return [...new Set(lines)].toSorted().join('')
}

/** Returns the section of a version, without its heading. Throws if there is no such section. */
export function changelogSection(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m)
  const section = sections.find((each) => each.startsWith(`${version} `) || each.startsWith(`${version}\n`))
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${version}"`)
  return `${section.slice(section.indexOf('\n')).trim()}\n`
}
