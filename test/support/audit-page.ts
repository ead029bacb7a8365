import * as v from 'valibot'
import { AuditAct, AuditRecord } from '../../lib/accounts/audit/schema.ts'

/** What each act means, and who its entry names. */
const ACTS: Record<AuditAct, string> = {
  'setup.done': 'The first administrator was created.',
  'login.succeeded': 'Somebody has signed in with a password.',
  'login.failed': 'A password was wrong, or there is no such account.',
  'login.throttled': 'So many sign-ins have failed that the account has to wait; `detail` says how long.',
  logout: 'Somebody has signed out.',
  'password.changed': 'Somebody has changed their own password.',
  'password.reset_requested': 'A link to set a new password was asked for.',
  'password.reset': 'Such a link was used.',
  'email.verification_sent': 'A link that proves the address of an account was mailed.',
  'email.verified': 'The address of an account was proven; `detail` says by what.',
  'account.taken_over':
    'A provider has proven the address of an account whose user had not: the earlier password, sessions, keys and identities have ended.',
  'profile.changed': 'Somebody has changed their own names.',
  'session.revoked': 'Sessions were ended, by their user or by an administrator; `detail` says how many.',
  'session.replayed': 'A token that a session had before a refresh came back later, and ended the session',
  'key.created': 'Somebody has made an API key.',
  'key.revoked': 'An API key was revoked.',
  'oauth.signed_in': 'Somebody has signed in with a provider.',
  'oauth.signed_up': 'A provider has brought a new user.',
  'oauth.linked': 'A user can sign in with a provider from now on.',
  'oauth.failed': 'A sign-in with a provider came to nothing.',
  'invite.created': 'An invite was made: the subject; `detail` has the role and the conversation.',
  'invite.revoked':
    'An invite was revoked: the subject. Or the subject is a user who lost the right to some: `detail` says how many, of which role and conversation.',
  'invite.accepted': 'A user has accepted an invite: the subject; `detail` has the role and the conversation.',
  'identity.removed': 'A user has removed an identity at a provider, which signs in no more.',
  'invite.signed_up': 'An invite has brought a new user; the subject is the conversation.',
  'user.created': 'An administrator has created a user.',
  'user.changed': 'An administrator has changed an account; `detail` names what, and the new roles.',
  'user.disabled': 'A user is let in no more.',
  'user.enabled': 'A disabled user is let in again.',
  'user.erased': 'A person was erased; `detail` says what became of their messages.',
  'user.locked_down': 'All access of a user was ended; `detail` says how many sessions, keys, identities and invites.',
  'conversation.deleted': 'An owner has deleted a conversation, the subject.',
  'limit_profile.created': 'A rate limit profile was created.',
  'limit_profile.changed': 'A rate limit profile was changed.',
  'limit_profile.deleted': 'A rate limit profile was deleted.',
  'limit_assignment.created': 'A rate limit profile was assigned to a route.',
  'limit_assignment.deleted': 'A route has lost its rate limit profile.',
  'doctor.probed': '`chat-server doctor` has tried the event stream, as a user that existed for seconds: the subject.',
}

const EXAMPLE: AuditRecord = {
  id: '01980a3c-a000-7a10-8b20-0c4f1d2e3a46',
  at: '2026-11-20T10:00:00.123456Z',
  act: 'user.changed',
  actor_id: '01980a3c-6f00-7a10-8b20-0c4f1d2e3a41',
  subject_id: '01980a3c-6f01-7a10-8b20-0c4f1d2e3a42',
  ip: '192.0.2.7',
  detail: { changed: ['roles'], roles: ['admin', 'member'] },
}

const INTRODUCTION = `<!-- Made from lib/accounts/audit/schema.ts by test/support/generate-docs.ts: change it there. -->

# Audit log

Who got in, who administers, and what they did: each act is a row in the database, written in the same transaction as
the act itself, and one line of the log with the message \`audit\`. What did not come to be is not in it: a call that was
refused, a write the storage did not take. A sign-in that failed is an act. How to manage users is in
[Administration](../guides/administration.md).

Administrators read it with \`GET /api/admin/audit\`, whoever is at the machine with \`chat-server audit list\`; both give
the newest entry first. \`act\` and \`user_id\` filter; with \`user_id\`, entries by the user and about the user count. One
call with a filter looks through 10,000 entries at most: it may answer with few entries or none and a \`next_after\` all
the same. Go on until there is none.

\`\`\`json
${JSON.stringify(v.parse(AuditRecord, EXAMPLE), null, 2)}
\`\`\`

- \`actor_id\` is the user who did it. It is missing for the command line, and for whom is not signed in.
- \`subject_id\` is the user it was done to, or the id of what else it was about.
- \`ip\` is the address the call came from. It is missing for the command line.
- \`detail\` depends on the act.

No entry holds a password, a token, a key, or the address of somebody who has no account. Entries name users by id, and
stay when those users are erased: an id then leads to nobody. They are deleted after \`audit.retention_days\`, a year by
default; \`false\` keeps them for ever.

In the log, the line has the same fields, those of \`detail\` among them. It is one JSON object of 8 KiB at most whatever
was sent; longer texts in it are cut and end with \`…\`. With \`log.level\` above \`info\` there are no such lines, and the
rows are written all the same. Metrics count none of this.

## Acts

| act | |
|---|---|
`

/** The page about the audit log, with every act there is. */
export function auditPage(): string {
  const rows = AuditAct.options.map((act) => `| \`${act}\` | ${ACTS[act]} |\n`)
  return INTRODUCTION + rows.join('')
}
