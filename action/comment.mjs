/**
 * Creates the comment of this action on a pull request, or updates it if there is one.
 * https://docs.github.com/en/rest/issues/comments
 */
import { readFileSync } from 'node:fs'

const { CHECK, REPORT, NUMBER, GITHUB_TOKEN, GITHUB_API_URL, GITHUB_REPOSITORY } = process.env

/** The first line of the comment, by which later runs find it. */
const MARK = '<!-- dateline -->'
/** GitHub's limit is 65,536 characters. */
const MAX_CHARACTERS = 65_000
const PAGE = 100

async function request(method, path, body) {
  const response = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/issues/${path}`, {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${GITHUB_TOKEN}`,
      'content-type': 'application/json',
      'x-github-api-version': '2022-11-28',
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (response.ok) return response.json()
  const error = new Error(`GitHub answered ${response.status} to ${method} ${path}: ${await response.text()}`)
  throw Object.assign(error, { status: response.status })
}

/** Returns the id of the comment that an earlier run created. */
async function findComment(page = 1) {
  const comments = await request('GET', `${NUMBER}/comments?per_page=${PAGE}&page=${page}`)
  const own = comments.find(({ body }) => body?.startsWith(MARK))
  return own || comments.length < PAGE ? own?.id : findComment(page + 1)
}

/** Leaves out the lines that GitHub would not accept. */
function cut(text) {
  if (text.length <= MAX_CHARACTERS) return text
  const kept = text.slice(0, MAX_CHARACTERS)
  const lines = kept.slice(0, kept.lastIndexOf('\n'))
  const left = text.slice(lines.length + 1).split('\n').length
  return `${lines}\n\n**${left} more lines are not shown.** \`dateline diff --since BASE --markdown\` prints all.`
}

const outcome =
  CHECK === '0'
    ? '`dateline check` found no errors.'
    : '**`dateline check` failed.** Its log has the findings.'
const body = cut(`${MARK}\n${outcome}\n\n${readFileSync(REPORT, 'utf8').trimEnd()}`)
try {
  const id = await findComment()
  if (id === undefined) await request('POST', `${NUMBER}/comments`, { body })
  else await request('PATCH', `comments/${id}`, { body })
} catch (error) {
  // The token of a pull request from a fork may only read. Its check still counts.
  if (error.status !== 403) throw error
  console.log(
    '::warning title=dateline::The comment was not written, because the token may not write: give the job the permission `pull-requests: write`. Pull requests from forks cannot have it.',
  )
}
