import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { AuditAct } from '../../../lib/accounts/audit/schema.ts'
import { CAUSES } from '../../../lib/accounts/means/rules.ts'
import { FUNCTIONS, LOOPS, USE_CASES } from '../../../lib/features.ts'

/** What each operation writes to the audit log, or why it writes nothing. A new one is missing here. */
const DECISIONS: Record<string, readonly AuditAct[] | 'reads' | 'own' | 'event' | string> = {
  'setup.get': 'reads',
  'setup.assertOpen': 'reads',
  'setup.run': ['setup.done'],
  'setup.runFrom': ['setup.done'],
  'capabilities.get': 'reads',
  'snapshots.create': 'reads',
  'users.create': ['user.created'],
  'users.list': 'reads',
  'users.find': 'reads',
  'users.search': 'reads',
  'users.get': 'reads',
  'users.actor': 'reads',
  'users.ensure': ['user.created', 'user.changed'],
  'users.actorOf': 'reads',
  'users.change': ['user.changed', 'user.disabled', 'user.enabled', 'session.ended', 'key.revoked'],
  'users.describe': 'reads',
  'users.unlock': ['user.unlocked'],
  'users.erase': ['user.erased', 'user.disabled', 'session.ended', 'key.revoked', 'participant.removed'],
  'users.lockDown': ['user.locked_down', 'session.ended', 'key.revoked'],
  'users.removeAvatar': ['user.photo_removed'],
  'users.issueReset': ['password.reset_requested'],
  'users.listSessions': 'reads',
  'users.endSessions': ['session.revoked', 'session.ended', 'key.revoked'],
  'users.endSession': ['session.revoked', 'session.ended'],
  'sessions.list': 'reads',
  'sessions.revoke': ['session.revoked', 'session.ended', 'key.revoked'],
  'sessions.endForSubject': 'the host ends streams, as its own sign-out: it has no session of the service',
  'audit.list': 'reads',
  'audit.listNamed': 'reads',
  'tasks.list': 'reads',
  'mails.list': 'reads',
  'mails.retry': 'sends what was to be sent',
  'mails.drop': 'what does not arrive changes no access: the log of the process has it',
  'nodes.list': 'reads',
  'usage.list': 'reads',
  'auth.login': ['login.succeeded', 'login.failed', 'login.throttled', 'session.ended'],
  'auth.recognise': ['session.ended', 'session.replayed', 'user.created', 'user.changed'],
  'auth.authenticate': ['session.ended', 'session.replayed', 'user.created', 'user.changed'],
  'auth.refresh': 'own',
  'auth.logout': ['logout'],
  'auth.me': 'reads',
  'auth.changePassword': ['password.changed', 'session.ended'],
  'auth.changeProfile': ['profile.changed'],
  'auth.setAvatar': 'own',
  'auth.removeAvatar': 'own',
  'auth.confirm': ['login.failed', 'login.throttled'],
  'auth.listSessions': 'reads',
  'auth.revokeSession': ['session.revoked'],
  'resets.request': ['password.reset_requested'],
  'resets.issue': ['password.reset_requested'],
  'resets.redeem': ['password.reset', 'session.ended', 'key.revoked'],
  'emails.sendVerification': ['email.verification_sent'],
  'emails.verify': ['email.verified'],
  'emails.requestChange': ['email.change_requested'],
  'emails.confirmChange': ['email.changed'],
  'emails.undoChange': ['email.change_undone', 'session.ended', 'key.revoked'],
  'newcomers.invite': ['newcomer.invited'],
  'newcomers.list': 'reads',
  'newcomers.revoke': ['newcomer.revoked'],
  'newcomers.signUp': ['newcomer.signed_up'],
  'keys.create': ['key.created'],
  'keys.list': 'reads',
  'keys.revoke': ['key.revoked'],
  'keys.listAll': 'reads',
  'keys.revokeAny': ['key.revoked'],
  'identities.list': 'reads',
  'identities.remove': ['identity.removed'],
  'oauth.begin': 'own',
  'oauth.finish': ['oauth.signed_in', 'oauth.signed_up', 'oauth.linked', 'oauth.failed', 'account.taken_over'],
  'oauth.exchangeCode': ['oauth.signed_in', 'oauth.signed_up', 'oauth.linked', 'oauth.failed', 'account.taken_over'],
  'conversations.create': 'own',
  'conversations.ensure': 'own',
  'conversations.list': 'reads',
  'conversations.get': 'reads',
  'conversations.rename': ['conversation.renamed', 'conversation.policy_changed', 'conversation.layout_changed'],
  'conversations.remove': ['conversation.deleted'],
  'conversations.removeAny': ['conversation.deleted'],
  'conversations.direct': 'a direct conversation changes nothing that the other person has',
  'conversations.settings': 'reads',
  'conversations.setSettings': 'own',
  'conversations.markAllRead': 'own',
  'conversations.markRead': 'own',
  'conversations.markUnread': 'own',
  'conversations.listAll': 'reads',
  'conversations.describe': 'reads',
  'participants.list': 'reads',
  'participants.add': ['participant.added', 'invite.created'],
  'participants.changeRole': ['participant.role_changed', 'invite.revoked'],
  'participants.remove': ['participant.removed', 'invite.revoked'],
  'invites.create': ['invite.created'],
  'invites.list': 'reads',
  'invites.accept': ['invite.accepted', 'invite.signed_up', 'participant.added'],
  'invites.preview': 'reads',
  'invites.revoke': ['invite.revoked'],
  'invites.revokeById': ['invite.revoked'],
  'threads.list': 'reads',
  'threads.tree': 'reads',
  'threads.unread': 'reads',
  'threads.listFollowed': 'reads',
  'threads.markRead': 'own',
  'threads.markUnread': 'own',
  'threads.follow': 'own',
  'threads.unfollow': 'own',
  'threads.messages': 'reads',
  'threads.setTitle': 'all participants see it',
  'messages.postRoot': 'own',
  'messages.reply': 'own',
  'messages.get': 'reads',
  'messages.list': 'reads',
  'messages.listRevisions': 'reads',
  'messages.edit': 'own',
  'messages.remove': ['message.deleted'],
  'messages.restore': 'gives back what message.deleted took; all participants see it',
  'attachments.create': 'own',
  'attachments.get': 'reads',
  'attachments.remove': 'own',
  'attachments.link': 'reads',
  'users.openAvatar': 'reads',
  'attachments.putPart': 'own',
  'attachments.upload': 'own',
  'attachments.open': 'reads',
  'attachments.openThumbnail': 'reads',
  'attachments.openLink': 'reads',
  'pins.add': 'all participants see it, with the user who did it',
  'pins.remove': 'all participants see it; the message stays',
  'pins.list': 'reads',
  'receipts.ofMessage': 'reads',
  'receipts.ofThread': 'reads',
  'search.messages': 'reads',
  'search.status': 'reads',
  'search.rebuild': 'finds the same afterwards',
  'reactions.add': 'own',
  'reactions.remove': 'own',
  'reactions.clear': ['reactions.cleared'],
  'reactions.list': 'reads',
  'notifications.list': 'reads',
  'notifications.markRead': 'own',
  'notifications.sendMail': 'own',
  'answers.cancel': 'an answer that ends early says so in the conversation',
  'answers.listChunks': 'reads',
  'presence.sendHeartbeat': 'own',
  'presence.list': 'reads',
  'presence.setTyping': 'own',
  'limits.listProfiles': 'reads',
  'limits.createProfile': ['limit_profile.created'],
  'limits.updateProfile': ['limit_profile.changed'],
  'limits.deleteProfile': ['limit_profile.deleted'],
  'limits.listAssignments': 'reads',
  'limits.createAssignment': ['limit_assignment.created'],
  'limits.deleteAssignment': ['limit_assignment.deleted'],
  'limits.status': 'reads',
  'limits.reset': ['limits.reset'],
  'events.open': 'reads',
  'events.openAll': 'reads',
  'events.follow': 'reads',
  'events.followAll': 'reads',
  'ops.health': 'reads',
  'ops.readiness': 'reads',
  'ops.metrics': 'reads',
  'ops.prune': 'deletes what is expired, as the service does by itself',
  'ops.fsck': 'repairs what no user can have meant',
  'ops.fsckFiles': 'marks files that are missing already',
  'ops.adoptFiles': 'says which database may delete in a storage of files: the storage itself has it',
  'ops.recoverFiles': 'gives back what was marked as lost, as the service does by itself',
  'ops.collectFiles': 'deletes files that nothing refers to',
  'ops.fileTotals': 'reads',
  'ops.probe': ['doctor.probed'],
  'wellKnown.get': 'reads',
  'openai.listModels': 'reads',
  'openai.complete': 'reads',
}

it('every operation has a decision about the audit log, and every act an operation', () => {
  const operations = [USE_CASES, FUNCTIONS, LOOPS].flatMap((features) =>
    Object.entries(features).flatMap(([feature, calls]) => Object.keys(calls).map((name) => `${feature}.${name}`)),
  )
  expect(Object.keys(DECISIONS).sort()).toEqual(operations.sort())
  const written = Object.values(DECISIONS).flatMap((decision) => (typeof decision === 'string' ? [] : decision))
  written.push(...COMMANDS)
  expect([...new Set(written)].sort()).toEqual([...AuditAct.options].sort())
})

/** What is written without an operation of the service: by a command on its database. */
const COMMANDS: readonly AuditAct[] = ['clock.trusted', 'conversation.imported']

/** Where access, participation and messages of others end: an entry is written there. A new place is missing here. */
const ENDS: Record<string, string> = {
  'DELETE FROM sessions lib/accounts/sessions/store-list.ts': 'logout, session.revoked, session.replayed; expired ones',
  'DELETE FROM sessions lib/accounts/sessions/store.ts': 'openSession: session.ended',
  'UPDATE sessions SET idle_expires_at = 0 lib/accounts/sessions/store.ts': 'recordExpiry: session.ended',
  'DELETE FROM api_keys lib/accounts/api-keys/store.ts': 'key.revoked; expired ones',
  'DELETE FROM participants lib/chat/memberships/store.ts': 'participant.removed; of the probe',
  'UPDATE participants SET role lib/chat/memberships/store.ts': 'participant.role_changed',
  'INSERT INTO participants lib/chat/memberships/store.ts': 'participant.added; of own conversations',
  'UPDATE conversations SET deleted_at lib/chat/copies/store.ts':
    'an import that is not complete: conversation.imported',
  'UPDATE conversations SET deleted_at lib/chat/memberships/store-conversations.ts': 'hide: conversation.deleted',
  'UPDATE messages SET deleted_at lib/chat/messages/store-changes.ts': 'message.deleted',
  'DELETE FROM users lib/accounts/users/store.ts': 'user.erased',
  'DELETE FROM users lib/ops/probe.ts': 'of the probe',
}

const ENDING =
  /(DELETE FROM (?:sessions|api_keys|participants|users)|UPDATE sessions SET idle_expires_at = 0|UPDATE participants SET role|INSERT INTO participants|UPDATE (?:conversations|messages) SET deleted_at)\b/g

it('every place that ends access, participation or a message is known', () => {
  const files = readdirSync('lib', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const places = files.flatMap((name) => {
    const text = name.startsWith('storage/') ? '' : readFileSync(`lib/${name}`, 'utf8')
    return [...text.replaceAll(/\s+/g, ' ').matchAll(ENDING)].map(([, sql]) => `${sql} lib/${name}`)
  })
  expect([...new Set(places)].sort()).toEqual(Object.keys(ENDS).sort())
})

it('every cause that ends sessions or keys has its reason', () => {
  const { reason: _, ...ends } = CAUSES.new_address
  expect(ends).not.toHaveProperty('ends.sessions')
  expect(new Set(Object.values(CAUSES).map(({ reason }) => reason))).toEqual(
    new Set(['password', 'address', 'admin', 'disabled', 'lockdown', 'takeover', 'erasure']),
  )
})
