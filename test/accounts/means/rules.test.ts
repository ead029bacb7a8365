import { expect, it } from 'vitest'
import { CAUSES, MEANS, type Means } from '../../../lib/accounts/means/rules.ts'
import { ROWS } from '../../../lib/accounts/means/store.ts'
import { MIGRATIONS } from '../../../lib/storage/schema/migrations.ts'
import { shapeAfter } from '../../../lib/storage/schema/shape.ts'
import { textOf } from '../../support/pages.ts'

/** The name of a column that may prove a caller, or name one elsewhere. */
const PROOF = /token|hash|subject|secret|verifier|password|signature|digest|code|credential|identity/

/** Tables with such a column that are no means of access, or whose rows end in another way, and why. */
const DECIDED: Record<string, string> = {
  users: 'a new password replaces the one before, a takeover removes it, and an erasure deletes the row',
  oauth_assertions: 'what an application has proved itself with, which counts no second time',
  server_keys: 'of no account: the operator revokes them',
  invites: 'revoked by ctx.revokeInvites: the lists and the error of accepting need the rows',
  rotated_tokens: 'deleted with their sessions by a cascading key',
  email_request_tokens: 'deleted with their requests by a cascading key',
  idempotency_keys: 'the digest of a post',
  invocations: 'the digest of a call of a command',
  answers_under_way: 'tokens of a model that are reserved',
  answer_runs: 'tokens of a model that the steps of an answer have used',
  usage_entries: 'tokens of a model that were used',
  usage_totals: 'tokens of a model that were used',
  audit_log: 'the subject of an entry is an id',
  merged_users: 'the id of the host that a user had',
  token_floors: 'up to when the tokens of a deleted user are refused',
  blobs: 'the digest of a file',
  attachment_parts: 'the digest of a part of a file',
}

it.each(['sqlite', 'postgresql'] as const)(
  'every table that may give access on %s is a means or decided',
  (dialect) => {
    const { tables } = shapeAfter(MIGRATIONS.length, dialect)
    const means = Object.values(ROWS).map(({ table }) => table.text)
    const suspects = [...tables].flatMap(([table, names]) =>
      [...names].some((name) => PROOF.test(name)) ? [table] : [],
    )
    expect(suspects.filter((table) => !means.includes(table) && !DECIDED[table])).toEqual([])
    expect([...new Set(means), ...Object.keys(DECIDED)].filter((table) => !tables.has(table))).toEqual([])
    for (const { table, user } of Object.values(ROWS))
      expect([...tables.get(table.text)!], table.text).toContain(user.text)
  },
)

it('every means ends with a lockdown, a takeover and an erasure', () => {
  for (const cause of ['lockdown', 'takeover', 'erasure', 'merge'] as const)
    expect(Object.keys(CAUSES[cause].ends).sort()).toEqual(Object.keys(MEANS).sort())
})

it('the documentation has the causes and what they end as the code has them', () => {
  const rows = Object.values(CAUSES).map(({ title, ends }) => {
    const ended = Object.entries(ends) as [Means, string][]
    const named = ended.map(([name, note]) => (note ? `${MEANS[name]} (${note})` : MEANS[name]))
    return [title, ended.length === Object.keys(MEANS).length ? 'all of them' : named.join(', ')]
  })
  const page = textOf('docs/concepts/sessions.md').split('\n')
  const start = page.findIndex((line) => /^\| cause +\|/.test(line))
  const end = page.findIndex((line, at) => at > start && !line.startsWith('|'))
  const shown = page.slice(start + 2, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  expect(shown).toEqual(rows)
})
