const DAY = new Intl.DateTimeFormat('en', {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  timeZone: 'UTC',
})

/** Names a settlement by the UTC day that it covers, such as `Nov 26, 2026`. @param start ISO 8601, or milliseconds. */
export const writePeriod = (start: string | number): string => DAY.format(new Date(start))
