/** Number of messages that a pass can have in `DAY_MS`: Google shows no more notifications of an object ("Message"). */
export const MAX_IN_A_DAY = 3

export const DAY_MS = 86_400_000
