import type { Registry } from 'prom-client'
import type { OpenDatabase } from '../../database/open/open-database.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { readVerifications } from '../verification-queries.ts'
import {
  readArchiver,
  readClosedByMoves,
  readDatabaseBytes,
  readProcessorCertificates,
  readQueueAges,
  readReplication,
} from './deployment-queries.ts'
import { addGauge } from './series.ts'
import type { SharedRead } from './shared-read.ts'

type Read<F extends (...given: never[]) => Promise<unknown>> = SharedRead<Awaited<ReturnType<F>>>

/** Facts about the whole deployment, which every process reads from the database. */
export interface DeploymentReads {
  readonly queues: Read<typeof readQueueAges>
  readonly databaseBytes: Read<typeof readDatabaseBytes>
  readonly replication: Read<typeof readReplication>
  readonly archiver: Read<typeof readArchiver>
  readonly processorCertificates: Read<typeof readProcessorCertificates>
  readonly closedByMoves: Read<typeof readClosedByMoves>
  readonly verifications: Read<typeof readVerifications>
}

/** @param share makes a read that callers share. */
export function createDeploymentReads(
  { control }: Pick<OpenDatabase, 'control'>,
  clock: Clock,
  share: <T>(what: string, read: () => Promise<T>) => SharedRead<T>,
): DeploymentReads {
  return {
    queues: share('queues', () => readQueueAges(control, clock)),
    databaseBytes: share('the size of the database', () => readDatabaseBytes(control)),
    replication: share('replicas', () => readReplication(control)),
    archiver: share('WAL archiving', () => readArchiver(control)),
    processorCertificates: share('certificates of processors', () => readProcessorCertificates(control)),
    closedByMoves: share('tenants that moves have closed', () => readClosedByMoves(control, clock)),
    verifications: share('verification results', () => readVerifications(control)),
  }
}

/** Adds the age of the queues, and the size, replicas and archiving of the database. */
export function addDeployment(registry: Registry, reads: DeploymentReads): void {
  addGauge(
    registry,
    'svc_queue_age_seconds',
    'Age of the oldest row of a queue in the whole deployment: webhooks (due attempts, and events whose attempts no worker has planned), chain_signing and chain (USDC payouts before and after they are signed), bank (dollar payouts that the bank has not accepted). 0 if nothing waits.',
    ['environment', 'queue'],
    async () =>
      (await reads.queues())?.map(
        ({ ageMs, environment, queue }) => [{ environment, queue }, ageMs / 1000] as const,
      ),
  )
  addGauge(registry, 'svc_database_bytes', 'Size of the database.', [], async () => {
    const bytes = await reads.databaseBytes()
    return bytes === undefined ? undefined : [[{}, bytes]]
  })
  addGauge(
    registry,
    'svc_tenant_closed_seconds',
    'Time for which a move or an export that has not ended has closed a tenant: fenced (for writes, at the source), arriving (at the target, which has all rows). 0 if no tenant is closed.',
    ['state'],
    async () => (await reads.closedByMoves())?.map(({ state, ageMs }) => [{ state }, ageMs / 1000] as const),
  )
  addReplication(registry, reads.replication)
  addArchiving(registry, reads.archiver)
}

function addReplication(registry: Registry, read: DeploymentReads['replication']): void {
  addGauge(
    registry,
    'svc_replica_lag_seconds',
    'Time from a commit to its replay on a replica, by application name (up to 20). Requires pg_read_all_stats.',
    ['replica'],
    async () =>
      (await read())?.replicas
        .filter(({ bytes }) => bytes !== null)
        .map(({ name, lagMs }) => [{ replica: name }, lagMs / 1000] as const),
  )
  addGauge(
    registry,
    'svc_replica_lag_bytes',
    'WAL that a replica has not replayed, by application name (up to 20). Requires pg_read_all_stats.',
    ['replica'],
    async () =>
      (await read())?.replicas.flatMap(({ name, bytes }) =>
        bytes === null ? [] : [[{ replica: name }, bytes] as const],
      ),
  )
  addGauge(
    registry,
    'svc_replication_slot_bytes',
    'WAL that the database server retains for a replication slot (up to 20).',
    ['slot'],
    async () => (await read())?.slots.map(({ name, bytes }) => [{ slot: name }, bytes] as const),
  )
}

function addArchiving(registry: Registry, read: DeploymentReads['archiver']): void {
  addGauge(
    registry,
    'svc_archive_failures',
    'Failed attempts to archive a WAL segment since the statistics of the server were reset. No series without archiving.',
    [],
    async () => (await read())?.map(({ failed }) => [{}, failed] as const),
  )
  addGauge(
    registry,
    'svc_archive_failing',
    '1 while the last attempt to archive a WAL segment failed, otherwise 0. No series without archiving.',
    [],
    async () => (await read())?.map(({ failing }) => [{}, failing ? 1 : 0] as const),
  )
  addGauge(
    registry,
    'svc_archive_timestamp_seconds',
    'Time of the last archived WAL segment in Unix time. Before the first segment: time when the statistics were reset.',
    [],
    async () =>
      (await read())?.map(
        ({ archivedAt, countedSince }) => [{}, (archivedAt ?? countedSince) / 1000] as const,
      ),
  )
}
