/** Which columns of a tenant hold secrets. An export that people read has none of them. */

/** Columns that are sealed, or that replace a credential. */
const SECRET: Readonly<Record<string, readonly string[]>> = {
  members: ['password_hash', 'totp_secret'],
  oauth_artefacts: ['sealed'],
  oauth_clients: ['secret_digest'],
  authorization_endpoints: ['secret', 'retired_secrets'],
  webhook_endpoints: ['secret', 'retired_secrets'],
  card_numbers: ['fingerprint', 'sealed'],
  idempotency_answers: ['sealed'],
  payout_destinations: ['account'],
  tokens: ['details'],
}

/** Columns with bytes that are not secret: digests, public keys and files. */
export const PLAIN_BYTES: Readonly<Record<string, readonly string[]>> = {
  challenges: ['digest', 'request_hash', 'token_digest'],
  invitations: ['digest'],
  keys: ['digest'],
  oauth_artefacts: ['digest'],
  passkeys: ['credential_id', 'public_key'],
  recovery_codes: ['digest'],
  sessions: ['digest'],
  totp_uses: ['form_hash'],
  audit_heads: ['hash', 'previous_hash'],
  audit_log: ['hash', 'previous_hash'],
  dispute_files: ['content'],
  idempotency_answers: ['fingerprint'],
  treasury_report_pieces: ['content'],
}

/** Returns the names of the secret columns of a table. */
export const secretColumnsOf = (table: { readonly name: string }): readonly string[] =>
  SECRET[table.name] ?? []
