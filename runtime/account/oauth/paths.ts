/** Where applications and members are answered, at the console's origin. */
export const AUTHORIZE = '/oauth/authorize'
export const TOKEN = '/oauth/token'
export const REVOKE = '/oauth/revoke'
export const CONSENT = '/oauth/consent'
