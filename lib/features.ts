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
import * as conversations from './chat/conversations/service.ts'
import * as events from './chat/events/service.ts'
import * as invites from './chat/invites/service.ts'
import * as changes from './chat/messages/changes.ts'
import * as messages from './chat/messages/service.ts'
import * as participants from './chat/participants/service.ts'
import * as presence from './chat/presence/service.ts'
import * as threads from './chat/threads/service.ts'
import type { Context } from './context.ts'
import { bindAll, withContext } from './core/use-case.ts'
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
    setup: {
      ...bindAll(ctx, { get: setup.get, run: setup.run, runFrom: setup.runFrom }),
      assertOpen: withContext(ctx, setup.assertOpen),
    },
    users: {
      ...bindAll(ctx, {
        create: users.create,
        list: users.list,
        find: users.find,
        search: users.search,
        actor: users.actor,
      }),
      ...bindAll(ctx, { change: accounts.change }),
      ...bindAll(ctx, { erase: erasure.erase }),
      ...bindAll(ctx, { lockDown: lockdowns.lockDown }),
    },
    sessions: bindAll(ctx, { list: sessions.list, revoke: sessions.revoke }),
    audit: bindAll(ctx, { list: audit.list }),
    tasks: bindAll(ctx, { list: taskList.list }),
    auth: {
      ...bindAll(ctx, { login: auth.login, refresh: auth.refresh, logout: auth.logout, me: auth.me }),
      recognise: withContext(ctx, callers.recognise),
      authenticate: withContext(ctx, callers.authenticate),
      ...bindAll(ctx, { changePassword: account.changePassword, changeProfile: account.changeProfile }),
      ...bindAll(ctx, { confirm: confirmation.confirm }),
      ...bindAll(ctx, { listSessions: ownSessions.listSessions, revokeSession: ownSessions.revokeSession }),
    },
    resets: bindAll(ctx, { request: resets.request, issue: resets.issue, redeem: resets.redeem }),
    emails: bindAll(ctx, { sendVerification: emails.sendVerification, verify: emails.verify }),
    keys: bindAll(ctx, { create: keys.create, list: keys.list, revoke: keys.revoke }),
    identities: bindAll(ctx, { list: ownIdentities.list, remove: ownIdentities.remove }),
    oauth: bindAll(ctx, { begin: oauth.begin, finish: oauth.finish, exchangeCode: oauth.exchangeCode }),
    conversations: bindAll(ctx, {
      create: conversations.create,
      list: conversations.list,
      get: conversations.get,
      rename: conversations.rename,
      remove: conversations.remove,
    }),
    participants: bindAll(ctx, {
      list: participants.list,
      add: participants.add,
      changeRole: participants.changeRole,
      remove: participants.remove,
    }),
    invites: bindAll(ctx, {
      create: invites.create,
      list: invites.list,
      accept: invites.accept,
      revoke: invites.revoke,
      revokeById: invites.revokeById,
    }),
    threads: bindAll(ctx, {
      list: threads.list,
      tree: threads.tree,
      unread: threads.unread,
      markRead: threads.markRead,
    }),
    messages: {
      ...bindAll(ctx, {
        postRoot: messages.postRoot,
        reply: messages.reply,
        get: messages.get,
        listRevisions: messages.listRevisions,
      }),
      ...bindAll(ctx, { edit: changes.edit, remove: changes.remove, restore: changes.restore }),
    },
    answers: bindAll(ctx, { cancel: assistant.cancel, listChunks: assistant.listChunks }),
    presence: bindAll(ctx, { sendHeartbeat: presence.sendHeartbeat, setTyping: presence.setTyping }),
    limits: {
      ...bindAll(ctx, {
        listProfiles: limits.listProfiles,
        createProfile: limits.createProfile,
        updateProfile: limits.updateProfile,
        deleteProfile: limits.deleteProfile,
        listAssignments: limits.listAssignments,
        deleteAssignment: limits.deleteAssignment,
      }),
      ...bindAll(ctx, { createAssignment: limits.createAssignment }),
    },
    events: {
      ...bindAll(ctx, { open: events.open, openAll: events.openAll }),
      follow: withContext(ctx, events.follow),
      followAll: withContext(ctx, events.followAll),
    },
    ops: {
      ...bindAll(ctx, { health: ops.health, readiness: ops.readiness }),
      metrics: withContext(ctx, ops.metrics),
      prune: withContext(ctx, retention.prune),
      fsck: withContext(ctx, checks.fsck),
      probe: withContext(ctx, probes.probe),
    },
    wellKnown: bindAll(ctx, { get: wellKnown.get }),
    openai: bindAll(ctx, { listModels: compat.listModels, complete: compat.complete }),
  }
}
