/** Returns the sealing context of a member's TOTP secret. */
export function totpContext(tenantId: string, memberId: string): string {
  return `members.totp_secret ${tenantId} ${memberId}`
}
