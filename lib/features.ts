import * as accounts from './accounts/administration/service.ts'
import * as inspection from './accounts/administration/service-inspection.ts'
import * as lockdowns from './accounts/administration/service-lockdown.ts'
import * as throttling from './accounts/administration/service-throttling.ts'
import * as keys from './accounts/api-keys/service.ts'
import * as keysOfAll from './accounts/api-keys/service-admin.ts'
import * as audit from './accounts/audit/service.ts'
import * as callers from './accounts/authentication/service.ts'
import * as emails from './accounts/email-addresses/service.ts'
import * as emailChanges from './accounts/email-addresses/service-change.ts'
import * as grants from './accounts/grants/service.ts'
import * as grantsOfAll from './accounts/grants/service-admin.ts'
import * as people from './accounts/host-identity/service-people.ts'
import * as ownIdentities from './accounts/identities/service.ts'
import * as oauth from './accounts/oauth/service.ts'
import * as oauthClients from './accounts/oauth-clients/service.ts'
import * as resets from './accounts/password-resets/service.ts'
import * as resetsByAdmin from './accounts/password-resets/service-admin.ts'
import * as account from './accounts/profile/service.ts'
import * as serverKeys from './accounts/server-keys/service.ts'
import * as auth from './accounts/sessions/service.ts'
import * as sessions from './accounts/sessions/service-admin.ts'
import * as confirmation from './accounts/sessions/service-confirmation.ts'
import * as ownSessions from './accounts/sessions/service-own.ts'
import * as setup from './accounts/setup/service.ts'
import * as newcomers from './accounts/sign-ups/service.ts'
import * as tokens from './accounts/tokens/service.ts'
import * as users from './accounts/users/service.ts'
import type { Features } from './api/features.ts'
import * as access from './chat/access/service.ts'
import * as assistant from './chat/answers/service.ts'
import * as approvals from './chat/approvals/service.ts'
import * as assistants from './chat/assistants/service.ts'
import * as uploading from './chat/attachments/parts.ts'
import * as reading from './chat/attachments/reading.ts'
import * as attachments from './chat/attachments/service.ts'
import * as links from './chat/attachments/service-links.ts'
import * as files from './chat/attachments/uploading.ts'
import * as avatars from './chat/avatars/service.ts'
import * as commands from './chat/commands/service.ts'
import * as conversations from './chat/conversations/service.ts'
import * as changing from './chat/conversations/service-changing.ts'
import * as direct from './chat/conversations/service-direct.ts'
import * as operation from './chat/conversations/service-operator.ts'
import * as settings from './chat/conversations/service-settings.ts'
import * as events from './chat/events/service.ts'
import * as feed from './chat/feed/service.ts'
import * as feedback from './chat/feedback/service.ts'
import * as invites from './chat/invites/service.ts'
import * as invitePreview from './chat/invites/service-preview.ts'
import * as messages from './chat/messages/service.ts'
import * as changes from './chat/messages/service-changes.ts'
import * as metering from './chat/metering/service.ts'
import * as quotas from './chat/metering/service-quotas.ts'
import * as notices from './chat/notices/service.ts'
import * as notifications from './chat/notifications/service.ts'
import * as notificationMails from './chat/notifications/service-mail.ts'
import * as participants from './chat/participants/service.ts'
import * as persons from './chat/people/service.ts'
import * as pins from './chat/pins/service.ts'
import * as presence from './chat/presence/service.ts'
import * as reactions from './chat/reactions/service.ts'
import * as receipts from './chat/receipts/service.ts'
import * as rooms from './chat/rooms/service.ts'
import * as search from './chat/search/service.ts'
import * as searchIndex from './chat/search/service-index.ts'
import * as snapshots from './chat/snapshots/service.ts'
import * as streaming from './chat/streaming/service.ts'
import * as streamWriting from './chat/streaming/writing.ts'
import * as threads from './chat/threads/service.ts'
import * as followedThreads from './chat/threads/service-followed.ts'
import * as threadTitles from './chat/threads/service-title.ts'
import * as timeline from './chat/timeline/service.ts'
import * as marks from './chat/unread/service.ts'
import * as follows from './chat/unread/service-follows.ts'
import * as usage from './chat/usage/service.ts'
import * as awaitedAnswer from './chat/waiting/answer.ts'
import * as newMessages from './chat/waiting/messages.ts'
import * as nodeList from './cluster/service.ts'
import type { Context } from './context.ts'
import { type AnyUseCase, bindAll, loopWithContext, useCasesOf, withContext } from './core/use-case.ts'
import * as erasure from './erasure/service.ts'
import * as guests from './guests/service.ts'
import * as bots from './integrations/bots/service.ts'
import * as hooks from './integrations/hooks/service.ts'
import * as webhooks from './integrations/webhooks/service.ts'
import * as webhooksOfAll from './integrations/webhooks/service-admin.ts'
import * as webhookCalls from './integrations/webhooks/service-calls.ts'
import * as webhookDeliveries from './integrations/webhooks/service-deliveries.ts'
import * as webhookFeed from './integrations/webhooks/service-feed.ts'
import * as limits from './limits/service.ts'
import * as mails from './mail/service.ts'
import * as mcp from './mcp/handle.ts'
import * as merging from './merging/service.ts'
import * as completions from './openai-api/completions/service.ts'
import * as responseConversations from './openai-api/conversations/service.ts'
import * as streamedResponses from './openai-api/responses/responses.ts'
import * as responses from './openai-api/responses/service.ts'
import * as compat from './openai-api/service.ts'
import * as capabilities from './ops/capabilities/service.ts'
import * as fileChecks from './ops/files/file-check.ts'
import * as fileCollection from './ops/files/file-collection.ts'
import * as filePlace from './ops/files/file-place.ts'
import * as lostFiles from './ops/files/lost-files.ts'
import * as checks from './ops/fsck/fsck.ts'
import * as probes from './ops/probe.ts'
import * as retention from './ops/retention.ts'
import * as secrets from './ops/secrets/service.ts'
import * as ops from './ops/service.ts'
import * as runResponses from './protocols/ag-ui/responses.ts'
import * as runs from './protocols/ag-ui/service.ts'
import * as runCapabilities from './protocols/ag-ui/service-capabilities.ts'
import * as uiResponses from './protocols/ui-stream/responses.ts'
import * as uiChats from './protocols/ui-stream/service.ts'
import * as uiHistory from './protocols/ui-stream/service-history.ts'
import * as taskList from './tasks/service.ts'
import * as wellKnown from './well-known/service.ts'

/** The use-cases of a service, by feature and verb. What they are as functions is declared in `lib/api`. */
export const USE_CASES = {
  setup: useCasesOf(setup),
  capabilities: useCasesOf(capabilities),
  users: {
    ...useCasesOf(users),
    ...useCasesOf(persons),
    ensure: people.ensure,
    actorOf: people.actorOf,
    ...useCasesOf(accounts),
    ...useCasesOf(inspection),
    ...useCasesOf(erasure),
    ...useCasesOf(merging),
    ...useCasesOf(lockdowns),
    removeAvatar: avatars.removeAvatarOf,
    issueReset: resetsByAdmin.issueFor,
    listSessions: sessions.listOfUser,
    endSessions: sessions.endOfUser,
    endSession: sessions.endOne,
  },
  sessions: { list: sessions.list, revoke: sessions.revoke, endForSubject: people.endForSubject },
  audit: useCasesOf(audit),
  tasks: useCasesOf(taskList),
  access: useCasesOf(access),
  mails: useCasesOf(mails),
  nodes: useCasesOf(nodeList),
  auth: {
    ...useCasesOf(auth),
    ...useCasesOf(account),
    ...useCasesOf(confirmation),
    ...useCasesOf(ownSessions),
    removeAvatar: avatars.removeAvatar,
  },
  resets: { ...useCasesOf(resets), issue: resetsByAdmin.issue },
  emails: { ...useCasesOf(emails), ...useCasesOf(emailChanges) },
  newcomers: useCasesOf(newcomers),
  guests: useCasesOf(guests),
  keys: { ...useCasesOf(keys), ...useCasesOf(keysOfAll) },
  grants: { ...useCasesOf(grants), ...useCasesOf(grantsOfAll) },
  hooks: useCasesOf(hooks),
  webhooks: {
    create: webhooks.create,
    list: webhooks.list,
    get: webhooks.get,
    change: webhooks.change,
    remove: webhooks.remove,
    ...useCasesOf(webhookCalls),
    ...useCasesOf(webhookDeliveries),
    ...useCasesOf(webhooksOfAll),
  },
  bots: {
    create: bots.create,
    list: bots.list,
    change: bots.change,
    remove: bots.remove,
    listKeys: bots.listKeys,
    createKey: bots.createKey,
    revokeKey: bots.revokeKey,
  },
  serverKeys: useCasesOf(serverKeys),
  oauthClients: useCasesOf(oauthClients),
  tokens: { issue: tokens.issue },
  identities: useCasesOf(ownIdentities),
  oauth: useCasesOf(oauth),
  conversations: {
    ...useCasesOf(conversations),
    ...useCasesOf(changing),
    ...useCasesOf(rooms),
    ...useCasesOf(marks),
    ...useCasesOf(direct),
    ...useCasesOf(settings),
    ...useCasesOf(operation),
  },
  participants: useCasesOf(participants),
  invites: { ...useCasesOf(invites), ...useCasesOf(invitePreview) },
  threads: {
    ...useCasesOf(threads),
    ...useCasesOf(threadTitles),
    ...useCasesOf(followedThreads),
    ...useCasesOf(follows),
    messages: timeline.replies,
  },
  messages: { ...useCasesOf(messages), ...useCasesOf(changes), list: timeline.list },
  attachments: { ...useCasesOf(attachments), ...useCasesOf(links) },
  commands: useCasesOf(commands),
  notices: useCasesOf(notices),
  approvals: useCasesOf(approvals),
  feedback: useCasesOf(feedback),
  pins: useCasesOf(pins),
  receipts: useCasesOf(receipts),
  snapshots: useCasesOf(snapshots),
  search: { ...useCasesOf(search), ...useCasesOf(searchIndex) },
  reactions: useCasesOf(reactions),
  notifications: { ...useCasesOf(notifications), ...useCasesOf(notificationMails) },
  answers: { ...useCasesOf(assistant), ...useCasesOf(streaming) },
  assistants: useCasesOf(assistants),
  presence: useCasesOf(presence),
  limits: { ...useCasesOf(limits), ...useCasesOf(throttling) },
  events: useCasesOf(events),
  feed: useCasesOf(feed),
  usage: { ...useCasesOf(usage), ...useCasesOf(metering), ...useCasesOf(quotas) },
  ops: { ...useCasesOf(ops), ...useCasesOf(secrets) },
  wellKnown: useCasesOf(wellKnown),
  mcp: {},
  openai: { ...useCasesOf(compat), ask: completions.create, getCompletion: completions.get },
  responses: { ...useCasesOf(responses), ...useCasesOf(responseConversations) },
  uiChats: { get: uiHistory.get, list: uiHistory.list, stop: uiChats.stop },
  runs: { stop: runs.stop, getCapabilities: runCapabilities.getCapabilities },
} satisfies Record<string, Record<string, AnyUseCase>>

/** What is called in the process alone: functions that take the context first. */
export const FUNCTIONS = {
  setup: { assertOpen: setup.assertOpen },
  attachments: {
    putPart: uploading.putPart,
    upload: files.upload,
    open: reading.open,
    openThumbnail: reading.openThumbnail,
    openLink: links.openLink,
  },
  auth: { recognise: callers.recognise, authenticate: callers.authenticate, setAvatar: avatars.setAvatar },
  users: { openAvatar: avatars.openAvatar },
  messages: { stream: streamWriting.stream, wait: newMessages.wait },
  answers: { wait: awaitedAnswer.wait },
  feed: { read: webhookFeed.read },
  mcp: { handle: mcp.handle },
  responses: { create: streamedResponses.create, get: streamedResponses.get },
  uiChats: { send: uiResponses.send, resume: uiResponses.resume },
  runs: { start: runResponses.start, connect: runResponses.connect },
  ops: {
    metrics: ops.metrics,
    prune: retention.prune,
    fsck: checks.fsck,
    fsckFiles: fileChecks.fsckFiles,
    collectFiles: fileCollection.collectFiles,
    fileTotals: fileCollection.fileTotals,
    adoptFiles: filePlace.adoptFiles,
    recoverFiles: lostFiles.recoverFiles,
    probe: probes.probe,
  },
}

/** The features that return an async iterable. */
export const LOOPS = { events: { follow: events.follow, followAll: events.followAll } }

/** The functions that need no started service: an operator examines one that does not start. */
const ANYTIME: readonly unknown[] = [ops.metrics, probes.probe]

const takes = (names: readonly string[], ...runs: unknown[]) => runs.map((run) => [run, names] as const)

/** The arguments of functions and loops that are checked as those of use-cases. */
const TAKES = new Map<unknown, readonly string[]>([
  ...takes(['actor'], avatars.setAvatar, newMessages.wait, probes.probe, webhookFeed.read, events.followAll),
  ...takes(['actor'], streamedResponses.create, uiResponses.send, uiResponses.resume),
  ...takes(['actor', 'attachment_id'], uploading.putPart, reading.open, reading.openThumbnail),
  ...takes(['actor', 'conversation_id'], files.upload, streamWriting.stream, events.follow),
  ...takes(['actor', 'message_id'], awaitedAnswer.wait),
  ...takes(['actor', 'response_id'], streamedResponses.get),
  ...takes(['key'], avatars.openAvatar),
  ...takes(['token'], links.openLink),
  ...takes(['request', 'actor'], mcp.handle),
])

// biome-ignore lint/suspicious/noExplicitAny: arguments are contravariant, so no other type takes every function.
type InContext<Result> = (ctx: Context, ...args: any[]) => Result

/** All features as functions of a service. A test of their types ensures that they are the declared ones. */
export function bindFeatures(ctx: Context): Features {
  const features: Record<string, Record<string, unknown>> = {}
  for (const [feature, useCases] of Object.entries(USE_CASES)) features[feature] = bindAll(ctx, useCases)
  for (const [feature, functions] of Object.entries<Record<string, InContext<Promise<unknown>>>>(FUNCTIONS))
    for (const [name, run] of Object.entries(functions))
      features[feature]![name] = withContext(ctx, run, { takes: TAKES.get(run) ?? [], anytime: ANYTIME.includes(run) })
  for (const [feature, loops] of Object.entries<Record<string, InContext<AsyncGenerator>>>(LOOPS))
    for (const [name, run] of Object.entries(loops))
      features[feature]![name] = loopWithContext(ctx, run, TAKES.get(run))
  return features as unknown as Features
}
