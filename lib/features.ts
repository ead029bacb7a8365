import * as accounts from './accounts/administration/change.ts'
import * as lockdowns from './accounts/administration/lockdown.ts'
import * as keys from './accounts/api-keys/service.ts'
import * as audit from './accounts/audit/service.ts'
import * as callers from './accounts/authentication/service.ts'
import * as emails from './accounts/email-addresses/service.ts'
import * as ownIdentities from './accounts/identities/own.ts'
import * as oauth from './accounts/oauth/service.ts'
import * as resets from './accounts/password-resets/service.ts'
import * as account from './accounts/profile/service.ts'
import * as sessions from './accounts/sessions/admin.ts'
import * as confirmation from './accounts/sessions/confirmation.ts'
import * as ownSessions from './accounts/sessions/own.ts'
import * as auth from './accounts/sessions/service.ts'
import * as setup from './accounts/setup/service.ts'
import * as users from './accounts/users/service.ts'
import * as assistant from './chat/answers/service.ts'
import * as people from './chat/conversations/people.ts'
import * as conversations from './chat/conversations/service.ts'
import * as events from './chat/events/service.ts'
import * as invites from './chat/invites/service.ts'
import * as changes from './chat/messages/changes.ts'
import * as messages from './chat/messages/service.ts'
import * as participants from './chat/participants/service.ts'
import * as presence from './chat/presence/service.ts'
import * as threads from './chat/threads/service.ts'
import type { Context } from './context.ts'
import { bind } from './core/use-case.ts'
import * as erasure from './erasure/service.ts'
import * as limits from './limits/service.ts'
import * as compat from './openai-api/service.ts'
import * as checks from './ops/fsck.ts'
import * as probes from './ops/probe.ts'
import * as retention from './ops/retention.ts'
import * as ops from './ops/service.ts'
import * as taskList from './tasks/service.ts'
import * as wellKnown from './well-known/service.ts'

/** The use-cases of a service, by feature: each a function that takes the actor first. */
export function featuresOf(ctx: Context) {
  return {
    setup: bind(ctx, setup, ['status', 'assertOpen', 'run', 'runFrom']),
    users: {
      ...bind(ctx, users, ['create', 'list', 'find', 'search', 'actor']),
      ...bind(ctx, accounts, ['change']),
      ...bind(ctx, erasure, ['erase']),
      ...bind(ctx, lockdowns, ['lockDown']),
    },
    sessions: bind(ctx, sessions, ['list', 'revoke']),
    audit: bind(ctx, audit, ['list']),
    tasks: bind(ctx, taskList, ['list']),
    auth: {
      ...bind(ctx, auth, ['login', 'refresh', 'logout', 'me']),
      ...bind(ctx, callers, ['recognise', 'authenticate']),
      ...bind(ctx, account, ['changePassword', 'changeProfile']),
      ...bind(ctx, confirmation, ['confirm']),
      ...bind(ctx, ownSessions, ['listSessions', 'revokeSession']),
    },
    resets: bind(ctx, resets, ['request', 'issue', 'redeem']),
    emails: bind(ctx, emails, ['sendVerification', 'verify']),
    keys: bind(ctx, keys, ['create', 'list', 'revoke']),
    identities: bind(ctx, ownIdentities, ['list', 'remove']),
    oauth: bind(ctx, oauth, ['begin', 'finish', 'exchangeCode']),
    conversations: bind(ctx, conversations, ['create', 'list', 'get', 'rename', 'remove']),
    participants: {
      ...bind(ctx, people, ['list']),
      ...bind(ctx, participants, ['add', 'changeRole', 'remove']),
    },
    invites: bind(ctx, invites, ['create', 'list', 'accept', 'revoke', 'revokeById']),
    threads: bind(ctx, threads, ['list', 'tree', 'unread', 'markRead']),
    messages: {
      ...bind(ctx, messages, ['postRoot', 'reply', 'get', 'listRevisions']),
      ...bind(ctx, changes, ['edit', 'remove', 'restore']),
    },
    answers: bind(ctx, assistant, ['cancel', 'listChunks']),
    presence: bind(ctx, presence, ['sendHeartbeat', 'setTyping']),
    limits: bind(ctx, limits, [
      'listProfiles',
      'createProfile',
      'updateProfile',
      'deleteProfile',
      'listAssignments',
      'createAssignment',
      'deleteAssignment',
    ]),
    events: bind(ctx, events, ['open', 'openAll', 'follow', 'followAll']),
    ops: {
      ...bind(ctx, ops, ['health', 'readiness', 'metrics']),
      ...bind(ctx, retention, ['prune']),
      ...bind(ctx, checks, ['fsck']),
      ...bind(ctx, probes, ['probe']),
    },
    wellKnown: bind(ctx, wellKnown, ['get']),
    openai: bind(ctx, compat, ['listModels', 'complete']),
  }
}
