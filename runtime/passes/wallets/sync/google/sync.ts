import type { Database } from '../../../../database/database.ts'
import { readSpace } from '../../../../database/space.ts'
import { readPassState, type StateSources } from '../../../passes/state.ts'
import { readTemplate } from '../../../templates/queries.ts'
import { classOf } from '../../render/google/class.ts'
import { GOOGLE_KINDS, googleId } from '../../render/google/kinds.ts'
import { canSpeak, changeMessage, MAX_MESSAGES } from '../../render/google/messages.ts'
import { objectOf } from '../../render/google/object.ts'
import type { GoogleIssuer } from '../../render/google/resource.ts'
import type { PassState } from '../../render/pass-state.ts'
import { DONE, type GoogleClient, type SyncOutcome } from './client.ts'

/** A template or a pass to synchronize with its class or object. */
export interface Target {
  readonly space: string
  /** `tpl_…` or `pass_…`. */
  readonly id: string
  /** Whether Google probably does not have it yet. */
  readonly isNew: boolean
  /** The trace in which it changed. */
  readonly trace?: string | null | undefined
}

export interface SyncOptions {
  readonly db: Database
  readonly client: GoogleClient
  readonly issuer: GoogleIssuer
  readonly sources: StateSources
  /** Service time, in milliseconds since the epoch. */
  readonly now: () => number
}

/** Writes the current state of a template or pass to Google. A target that no longer exists counts as done. */
export type Sync = (target: Target) => Promise<SyncOutcome>

export function createSync({ db, client, issuer, sources, now }: SyncOptions): Sync {
  const syncTemplate = async ({ space, id, isNew }: Target): Promise<SyncOutcome> => {
    const [template, organization] = await Promise.all([
      readTemplate(db, space, id),
      sources.tenantNames.find(readSpace(space).tenantId),
    ])
    if (!template || organization === undefined) return DONE
    const state = {
      space,
      templateId: id,
      kind: template.kind,
      organization,
      name: template.name,
      brand: template.brand,
      locations: template.relevant_locations,
      options: template.options,
      fieldKeys: template.fields.map(({ key }) => key),
    }
    return client.put(GOOGLE_KINDS[state.kind].classes, classOf(state, issuer), isNew ? 'insert' : 'patch')
  }

  /**
   * Adds a message about the values that differ from those at Google. It comes before the new values: after an
   * interruption, the next attempt still sees the difference, and finds the message.
   */
  const tellChanges = async (type: string, state: PassState): Promise<SyncOutcome> => {
    const id = googleId(issuer.issuerId, state.place.passId)
    const found = await client.find(type, id)
    if (found.outcome !== 'done' || !found.object) return found
    const message = changeMessage(state, found.object)
    if (!message) return DONE
    const { messages = [] } = found.object
    if (messages.length >= MAX_MESSAGES) {
      const latest = messages.slice(1 - MAX_MESSAGES)
      const trimmed = await client.put(type, { id, messages: latest }, 'patch')
      if (trimmed.outcome !== 'done') return trimmed
    }
    return client.addMessage(type, id, message)
  }

  const syncPass = async ({ space, id, isNew }: Target): Promise<SyncOutcome> => {
    const state = await readPassState(db, { space, passId: id }, sources, now())
    if (!state) return DONE
    const { objects } = GOOGLE_KINDS[state.kind]
    const told = isNew || !canSpeak(state) ? DONE : await tellChanges(objects, state)
    if (told.outcome === 'later') return told
    const put = () => client.put(objects, objectOf(state, issuer), isNew ? 'insert' : 'patch')
    const sent = await put()
    if (sent.outcome !== 'refused' || sent.status !== 404) return sent
    // The class is missing: the template is older than the Google Wallet settings, or Google has lost the class.
    const made = await syncTemplate({ space, id: state.templateId, isNew: true })
    return made.outcome === 'done' ? put() : made
  }

  return (target) => (target.id.startsWith('tpl_') ? syncTemplate(target) : syncPass(target))
}
