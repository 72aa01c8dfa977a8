/** Where a member's TOTP secret is sealed to. */
export function totpContext(tenantId: string, memberId: string): string {
  return `members.totp_secret ${tenantId} ${memberId}`
}
