/** OAuth paths at the origin of the dashboard. */
export const AUTHORIZE = '/oauth/authorize'
export const TOKEN = '/oauth/token'
export const REVOKE = '/oauth/revoke'
export const CONSENT = '/oauth/consent'
