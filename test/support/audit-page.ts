import * as v from 'valibot'
import { AuditAct, AuditRecord } from '../../lib/accounts/audit/schema.ts'
import type { EndReason } from '../../lib/accounts/means/rules.ts'

/** The meaning of each action, and the subject of its entry. */
const ACTS: Record<AuditAct, string> = {
  'setup.done': 'The first administrator was created.',
  'login.succeeded': 'A user signed in with a password.',
  'login.failed': 'A password was wrong, or the account does not exist.',
  'login.throttled': 'The account is locked after too many failed sign-ins; `detail` has the duration.',
  logout: 'A user signed out.',
  'password.changed': 'A user changed their own password.',
  'password.reset_requested': 'A password reset link was requested.',
  'password.reset': 'A password reset link was used.',
  'email.verification_sent': 'A link to verify the email address of an account was mailed.',
  'email.verified': 'The email address of an account was verified; `detail` has the method.',
  'email.change_requested': 'A user requested another email address.',
  'email.changed': 'A user confirmed another email address with a mailed link.',
  'email.change_undone':
    'A change of the email address was undone with the link mailed to the former one; sessions and keys ended.',
  'account.taken_over':
    'A provider verified the email address of an account with an unverified address: the earlier password, sessions, keys and identities ended.',
  'profile.changed': 'A user changed their own names.',
  'session.revoked': 'Sessions were ended, by their user or by an administrator; `detail` has their number.',
  'session.ended':
    'Sessions of a user, the subject, ended because of another act or by time; `detail` has the reason and their number. All sessions of the service: without a subject.',
  'session.replayed': 'An old token of a session was used after a refresh, which ended the session.',
  'key.created': 'A user created an API key, the subject.',
  'key.revoked':
    'An API key, the subject, was revoked: by its user, or by an administrator or another act; then `detail` has the user and the reason.',
  'grant.created':
    'A user allowed an application, as whose connection the subject counts; `detail` has its client and scopes.',
  'grant.revoked':
    'The connection of an application, the subject, ended: `detail.reason` is `user`, `admin`, `client` (the application itself), `code` (its code was used twice), `limit` (a newer one took its place), or why access ended.',
  'grant.replayed': 'A refresh token was used that had been replaced: the connection, the subject, has ended.',
  'oauth_client.created':
    'The operator added a client of the authorization server, the subject; `detail` has its redirects.',
  'oauth_client.deleted':
    'The operator deleted such a client, the subject; `detail.grants` is the number of connections of users that ended.',
  'server_key.created': 'The operator created a server key, the subject; `detail` has its scopes.',
  'server_key.revoked': 'The operator revoked a server key, the subject.',
  'hook.created': 'An incoming hook was made; the subject is the bot as which it posts.',
  'hook.deleted': 'An incoming hook was deleted; the subject is the bot as which it posted.',
  'webhook.created': 'A webhook, the subject, was made; `detail` has its host, and the bot whose events it gets.',
  'webhook.changed':
    'A webhook, the subject, was changed, enabled or disabled: `detail` names what, with its host, its user if another one did it, and the `reason` if it was disabled by no act on it. All webhooks of the service: without a subject, with their number.',
  'webhook.verified': 'The URL of a webhook, the subject, returned its challenge.',
  'webhook.rotated': 'A webhook, the subject, got a new secret.',
  'webhook.replayed':
    'Events were sent to a webhook, the subject, again: `detail` has the `event_id`, or `since` when.',
  'webhook.deleted': 'A webhook, the subject, was deleted.',
  'oauth.signed_in': 'A user signed in with a provider.',
  'oauth.signed_up': 'A new user signed up through a provider.',
  'oauth.linked': 'A user linked a provider.',
  'oauth.failed': 'A sign-in with a provider failed.',
  'invite.created': 'An invite, the subject, was created; `detail` has the role and the conversation.',
  'invite.revoked':
    'An invite, the subject, was revoked. Or the subject is a user who lost the right to some invites: `detail` has their number, role and conversation.',
  'invite.accepted': 'A user accepted an invite, the subject; `detail` has the role and the conversation.',
  'identity.removed': 'A user removed an identity at a provider.',
  'invite.signed_up': 'A new user signed up with an invite; the subject is the conversation.',
  'newcomer.invited': 'An administrator invited a newcomer; the subject is the invite, `detail` has the roles.',
  'newcomer.revoked':
    'An administrator revoked the invite of a newcomer, the subject; with a `count`, the invites ended whose maker, the subject, had lost the right to make them.',
  'newcomer.signed_up': 'A newcomer signed up with an invite of an administrator.',
  'user.created': 'An administrator created a user.',
  'user.changed':
    'An administrator changed an account, or an owner a bot; `detail` has the changed fields and the new roles.',
  'user.unlocked': 'The failed sign-ins of a user were forgotten.',
  'user.disabled': 'A user was disabled.',
  'user.enabled': 'A disabled user was enabled.',
  'user.erased': 'A user was erased; `detail` has the treatment of their messages.',
  'user.merged':
    'A user was merged into another one, the subject; `detail` has the id of the former (`user_id`) and the numbers of what was moved.',
  'user.locked_down':
    'All access of a user was revoked; `detail` has the numbers of sessions, keys, identities and invites.',
  'user.quota_set': 'The quota of a user was set by an administrator.',
  'user.quota_cleared': 'The quota of a user was removed by an administrator: those of the roles apply.',
  'user.photo_removed': 'The photo that a user had set was removed by an administrator.',
  'conversation.policy_changed':
    'An owner or admin of a conversation, the subject, changed its policy: `detail` has the new values.',
  'conversation.layout_changed':
    'An owner or admin of a conversation, the subject, chose another layout: `detail` has both.',
  'conversation.deleted':
    'An owner, or the command line, deleted a conversation, the subject. With the reason `erasure`, its last participant was erased.',
  'conversation.renamed': 'An owner changed the title of a conversation, the subject.',
  'participant.added':
    'A user, the subject, was added to a conversation, or accepted an invite; `detail` has the role.',
  'participant.removed': 'A user, the subject, was removed from a conversation, left it, or was erased.',
  'participant.role_changed':
    'A participant, the subject, got another role; `detail` has both. With the reason `erasure`, the last owner was erased.',
  'message.deleted':
    'A participant deleted the message of another one, or of the assistant; `detail` has the author of the message.',
  'conversation.imported': 'The command line brought a conversation, the subject, back from a copy.',
  'reactions.cleared':
    'An owner or admin removed the reactions of all users with one emoji from a message, the subject.',
  'limit_profile.created': 'A rate limit profile was created.',
  'limit_profile.changed': 'A rate limit profile was changed.',
  'limit_profile.deleted': 'A rate limit profile was deleted.',
  'limit_assignment.created': 'A rate limit profile was assigned to a route.',
  'limit_assignment.deleted': 'A rate limit profile was removed from a route.',
  'limits.reset': 'The calls of a throttled user, or of the address in `detail`, were forgotten.',
  'tool.called':
    'A tool was started for a question of the actor; the subject is the call. `detail` has the tool and the answer.',
  'approval.requested':
    'A call of a tool waits for a decision; the subject is the call, the actor asked the assistant.',
  'approval.decided': 'The decision on a call of a tool; `detail` has the outcome. Without an actor it has expired.',
  'secret.rotated':
    'An operator has replaced the key of the service in the database, or has what a former key encrypted encrypted anew.',
  'clock.trusted':
    'An operator declared the time as right with `chat-server clock trust`: rows are deleted by age again. `detail` has the reason for the doubt, if there was one.',
  'doctor.probed': '`chat-server doctor` tested the event stream with a temporary user, the subject.',
}

/** What ended sessions. */
const REASONS: Record<EndReason, string> = {
  limit: 'the user signed in, and had `session.max_sessions_per_user` sessions',
  idle: 'not used for `session.idle_seconds`',
  absolute: 'older than `session.absolute_seconds`',
  signed_in: 'another user signed in in the same browser',
  password: 'the user changed the password, or reset it by mail',
  address: 'a change of the email address was undone',
  disabled: 'the user was disabled',
  admin: 'an administrator ended them, or set the password or the address',
  lockdown: 'all access of the user was revoked',
  takeover: 'another person verified the address of the account',
  erasure: 'the user was erased',
  merge: 'the user was merged into another one',
}

const reasonRows = () =>
  Object.entries(REASONS)
    .map(([reason, text]) => `| \`${reason}\` | ${text} |`)
    .join('\n')

const EXAMPLE: AuditRecord = {
  id: '01980a3c-a000-7a10-8b20-0c4f1d2e3a46',
  at: '2026-11-20T10:00:00.123456Z',
  act: 'user.changed',
  actor_id: '01980a3c-6f00-7a10-8b20-0c4f1d2e3a41',
  subject_id: '01980a3c-6f01-7a10-8b20-0c4f1d2e3a42',
  ip: '192.0.2.7',
  detail: { changed: ['roles'], roles: ['admin', 'member'] },
}

const INTRODUCTION = `<!-- Generated from lib/accounts/audit/schema.ts by test/support/generate-docs.ts: change it there. -->

# Audit log

The audit log records access and administration. Each action is a row in the database, written in the same transaction as
the action itself, and one log line with the message \`audit\`. Refused requests and failed writes are not recorded; a
failed sign-in is. [Administration](../guides/administration.md) explains how to manage users.

Administrators read it with \`GET /api/admin/audit\`, operators with \`chat-server audit list\`; both return the newest entry
first. Filters are combined:

- \`subject_id\`, \`conversation_id\`, \`since\` and \`until\` (an instant, excluded) are answered by an index.
- \`subject_id\` of a user also matches entries whose \`detail\` names the user: of a key it is the owner, of a deleted message
  the author.
- \`act\` and \`user_id\` are looked for among the entries that match the other filters. \`user_id\` matches entries by the user
  and about the user. One call scans at most 10,000 entries, so it may return few or no entries and still a
  \`next_after\`. Continue until there is none.

\`\`\`json
${JSON.stringify(v.parse(AuditRecord, EXAMPLE), null, 2)}
\`\`\`

- \`actor_id\` is the acting user. It is missing for the command line and for requests without a session. Acts of the command line
  have the name of the machine's user as \`detail.operator\`.
- \`subject_id\` is the id of the affected user or resource.
- \`conversation_id\` is the conversation in which it happened, or which it concerned.
- \`ip\` is the IP address of the caller. It is missing for the command line.
- \`detail\` depends on the action: ids, roles, numbers, reasons.
- \`names\` has the titles of conversations and the names of API keys as they were then. Only \`chat-server audit list\` shows
  it: over HTTP and in the log there are ids.

What a user does to their own things is not recorded, nor are participants of direct conversations. Sessions that end
because of another act have one entry for each user; those that expire have one for each user, reason and day (UTC), when
they are used next. The reasons of \`session.ended\`:

| reason | |
|---|---|
${reasonRows()}

No entry contains a password, a token, a key, or an email address without an account. Entries refer to users by id and stay,
with their \`names\`, when a user is erased or a conversation is deleted. They are deleted after \`audit.retention_days\`, a year by default; \`false\` keeps them forever.

Acts of the command line are logged by the command itself, with \`operator\`, and within five seconds by one of the running nodes,
with \`at\`, the time of the act: a log that is collected from the nodes has them. Without a running node, the next one that starts logs them.

The log line has the same fields, including those of \`detail\`. It is one JSON object of at most 8 KiB; longer texts are cut
and end with \`…\`. With \`log.level\` above \`info\` the lines are not logged, but the rows are still written. Metrics do not
count these actions.

## Actions

| \`act\` | |
|---|---|
`

/** The reference page of the audit log, with every action. */
export function auditPage(): string {
  const rows = AuditAct.options.map((act) => `| \`${act}\` | ${ACTS[act]} |\n`)
  return INTRODUCTION + rows.join('')
}
