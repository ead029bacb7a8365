import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { configKeys } from '../../lib/config/reference.ts'
import { counted, findInSources, type SourceNode, undecided } from '../support/sources.ts'

/** What one caller may have at most, and all of them together: many callers, each with its share, take no more than the sum. */
interface Limit {
  share: string
  sum: string
  /** The test in which callers that have less than their share are at the sum: its file, and its title. */
  shown: [file: string, title: string]
  /** Where the limit is made, counts and refuses; keys of the configuration begin with `config`. */
  at: string[]
}

const LIMITS: Record<string, Limit> = {
  'calls of webhooks': {
    share: '16 of a host, and one of a webhook that has failed or never succeeded',
    sum: 'webhooks.max_in_flight in a process, half of it for webhooks that have failed or never succeeded',
    shown: ['test/integrations/webhooks/call-slots.test.ts', 'keeps half of the slots for webhooks that succeed'],
    at: ['lib/integrations/webhooks/call-slots.ts: createSlots ×2'],
  },
  'posts with a key, on PostgreSQL': {
    share: '1,000 of a user wait for the one that is stored',
    sum: '4,000 wait in a process',
    shown: ['test/core/scheduling/slots.test.ts', 'refuses what would wait beyond the sum'],
    at: ['lib/chat/messages/queue.ts: createSlots ×1', 'lib/core/scheduling/slots.ts: unavailable ×1'],
  },
  'sign-in attempts': {
    share: '64 of an account wait for those that are checked',
    sum: '1,000 wait in a process',
    shown: ['test/accounts/passwords/throttle.test.ts', 'let at most a thousand attempts wait'],
    at: ['lib/accounts/passwords/throttle.ts: unavailable ×1'],
  },
  'hashes of passwords': {
    share: '2 of a caller run, 16 of a caller and of a network wait',
    sum: '64 wait in a process, one less than the cores run',
    shown: ['test/accounts/passwords/hash-queue.test.ts', 'reserves one of its 64 places for known callers'],
    at: [
      'lib/accounts/passwords/hash.ts: createHashQueue ×1',
      'lib/accounts/passwords/hash-queue.ts: createSlots ×1',
      'lib/accounts/passwords/hash-queue.ts: unavailable ×1',
    ],
  },
  searches: {
    share: '2 of a user run, 20 wait',
    sum: '4 run in a process, 100 wait; further ones end without a turn',
    shown: ['test/chat/search/slots.test.ts', 'nor to the callers beyond those that may wait'],
    at: ['lib/chat/search/search.ts: createSearchSlots ×1', 'lib/chat/search/slots.ts: createSlots ×1'],
  },
  'parts of uploads': {
    share: '12 of a user are received, 48 wait',
    sum: 'attachments.max_buffered_bytes are in memory, 512 parts wait; a full queue makes room for a user with fewer',
    shown: ['test/chat/attachments/part-slots.test.ts', 'a full queue makes room for a user who has fewer in it'],
    at: [
      'lib/chat/attachments/part-slots.ts: createTransferSlots ×1',
      'lib/chat/attachments/transfer-slots.ts: createSlots ×1',
      'lib/chat/attachments/transfer-slots.ts: rate_limited ×1',
      'lib/chat/attachments/transfer-slots.ts: unavailable ×1',
      'lib/create-files.ts: createPartSlots ×1',
    ],
  },
  'downloads of files, and those of thumbnails': {
    share: 'attachments.max_reads_per_user (16) of a user are read, 112 wait',
    sum: '1,024 are read in a process, 1,000 wait; pieces take at most attachments.max_buffered_bytes',
    shown: ['test/chat/attachments/read-slots.test.ts', 'of many users take no more memory together'],
    at: [
      'config attachments.max_reads_per_user',
      'lib/chat/attachments/read-slots.ts: createTransferSlots ×1',
      'lib/create-files.ts: createReadSlots ×2',
    ],
  },
  'uploads under way, and what files take': {
    share: '20 uploads and attachments.per_user_bytes of a user',
    sum: 'attachments.total_bytes, and the disk without attachments.reserve_bytes',
    shown: ['test/chat/attachments/store-failures.test.ts', 'hold for uploads that begin at once'],
    at: [
      'config attachments.per_user_bytes',
      'lib/chat/attachments/service.ts: quota_exceeded ×1',
      'lib/chat/attachments/service.ts: rate_limited ×1',
      'lib/chat/attachments/service.ts: storage_full ×1',
      'lib/chat/attachments/space.ts: storage_full ×1',
    ],
  },
  'streams of the OpenAI endpoints': {
    share: '4 of an address',
    sum: '100 in a process, of 60 seconds each',
    shown: ['test/openai-api/limits.test.ts', 'counts streams by address and in all'],
    at: [
      'lib/http/app.ts: createChunkStreams ×1',
      'lib/http/response/chunk-streams.ts: createSlots ×1',
      'lib/http/response/chunk-streams.ts: too_many_streams ×1',
      'lib/http/response/chunk-streams.ts: unavailable ×1',
    ],
  },
  'answers of the assistant': {
    share: 'assistant.max_running_per_user (3)',
    sum: 'assistant.max_running (100), of all processes',
    shown: ['test/assistant/runner.test.ts', 'are limited in all'],
    at: [
      'config assistant.max_running_per_user',
      'lib/assistant/leases.ts: rate_limited ×1',
      'lib/assistant/leases.ts: unavailable ×1',
    ],
  },
  'what the assistant may use': {
    share: 'usage.quotas of roles, or the own one of a user',
    sum: 'usage.quotas of the role service',
    shown: ['test/chat/metering/quotas.test.ts', 'have what an answer has used instead of what was reserved'],
    at: ['lib/chat/metering/asking.ts: rate_limited ×1'],
  },
  'open streams': {
    share: 'sse.max_streams_per_user (20), of all processes, with sse.max_buffer_bytes each',
    sum: 'server.max_connections; streams of a conversation share the bytes of its events',
    shown: ['test/cli/malformed.test.ts', 'accepts a limited number of connections'],
    at: [
      'config sse.max_streams_per_user',
      'lib/live/hub/hub.ts: createStreamQuota ×1',
      'lib/live/hub/quota.ts: too_many_streams ×1',
    ],
  },
  'names that the system is asked for, as DNS does not have them': {
    share: 'the calls to one name have one question',
    sum: '2 are asked by a process, 100 wait; the call to a further name fails',
    shown: ['test/outgoing/outgoing.test.ts', 'asks the system for two names at a time, while a bounded number waits'],
    at: ['lib/outgoing/names.ts: createSlots ×1'],
  },
  'pages of missed events': {
    share: 'a user with many streams that resume has one turn among the users',
    sum: '64 streams of a process are read and sent their pages at once',
    shown: ['test/live/hub/replay-slots.test.ts', 'are taken by users in turn, however many streams one has'],
    at: ['lib/live/hub/hub.ts: createReplaySlots ×1', 'lib/live/hub/replay-slots.ts: createSlots ×1'],
  },
  'readers that get what is unread after a reply': {
    share: 'a stream waits for the latest 1,000 replies of what it missed',
    sum: '100,000 readers of threads wait in a process; beyond them, a reader gets the numbers with the next reply',
    shown: [
      'test/live/hub/unread-updates.test.ts',
      'keep a bounded number of readers waiting, in all threads together',
    ],
    at: ['lib/live/hub/hub.ts: createUnreadUpdates ×1'],
  },
  'events that are sent again after a pause only': {
    share: 'one pause of a user, of a notification, or of a thread and a stream',
    sum: '10,000 of each kind pause in a process; beyond them, nothing is held',
    shown: ['test/core/scheduling/pauses.test.ts', 'are a bounded number: beyond it, nothing is held'],
    at: [
      'lib/chat/people/updates.ts: createPauses ×1',
      'lib/live/hub/inboxes.ts: createPauses ×1',
      'lib/live/hub/unread-updates.ts: createPauses ×1',
    ],
  },
  'mails that a user or an address causes': {
    share: '10 an hour to an address; 50 invites of a user at once',
    sum: '10,000 wait for all processes',
    shown: ['test/chat/invites/mail.test.ts', 'is refused while the queue of mails is full'],
    at: [
      'lib/accounts/email-addresses/service-change.ts: rate_limited ×1',
      'lib/accounts/email-addresses/service-change.ts: unavailable ×1',
      'lib/accounts/email-addresses/service.ts: rate_limited ×1',
      'lib/accounts/email-addresses/service.ts: unavailable ×1',
      'lib/accounts/mails/limit.ts: takeShared ×1',
      'lib/accounts/sign-ups/service.ts: unavailable ×1',
      'lib/chat/invites/mail.ts: rate_limited ×1',
      'lib/chat/invites/mail.ts: unavailable ×1',
      'lib/chat/notifications/service-mail.ts: unavailable ×1',
      'lib/mail/pace.ts: takeShared ×1',
    ],
  },
  'addresses and users in the limits of rate': {
    share: 'one bucket for each limit',
    sum: '100,000 buckets of a process in memory, the least recently used are dropped; shared ones are deleted when they are dry',
    shown: ['test/limits/rules.test.ts', 'stay bounded with a million callers'],
    at: [
      'lib/chat/search/search.ts: createLocalBuckets ×1',
      'lib/limits/auth-failures.ts: createLocalBuckets ×2',
      'lib/limits/limiter.ts: createLocalBuckets ×1',
    ],
  },
}

/** Why what looks like a limit of a caller needs no sum. */
const OTHERS: Record<string, string[]> = {
  'counts in time: a caller holds nothing between its calls, and each call has the limits of what it does': [
    'config rate_limits.auth_failures_per_ip_per_min',
    'config rate_limits.auth_login_per_ip_per_min',
    'config guests.per_ip_per_hour',
    'config search.per_user_per_min',
    'lib/accounts/passwords/throttle.ts: rate_limited ×1',
    'lib/accounts/passwords/throttle.ts: reserveAttempt ×1',
    'lib/accounts/sessions/store-rotated.ts: rate_limited ×1',
    'lib/accounts/sessions/service-confirmation.ts: rate_limited ×1',
    'lib/accounts/sessions/service-confirmation.ts: takeShared ×1',
    'lib/chat/invites/sign-up.ts: rate_limited ×1',
    'lib/chat/rooms/service.ts: rate_limited ×1',
    'lib/chat/rooms/service.ts: takeShared ×1',
    'lib/chat/search/search.ts: rate_limited ×1',
    'lib/chat/streaming/service.ts: rate_limited ×1',
    'lib/http/request/rate-limit.ts: rate_limited ×1',
    'lib/limits/auth-failures.ts: rate_limited ×1',
    'lib/limits/limiter.ts: rate_limited ×1',
    'lib/limits/limiter.ts: takeShared ×2',
    'lib/limits/spending.ts: rate_limited ×2',
    'lib/limits/spending.ts: takeShared ×2',
    'lib/mcp/limit.ts: rate_limited ×1',
  ],
  'rows of the database, of which the oldest ends': ['config session.max_sessions_per_user'],
  'rows of the database, as those of the users themselves': [
    'config bots.max_per_user',
    'config webhooks.max_per_user',
  ],
  'belongs to the host or to a part of the service, not to callers': [
    'cli/cluster/primary.ts: createWorkerPool ×1',
    'cli/logging/logger.ts: createJsonLines ×1',
    'lib/chat/presence/watch.ts: createSlots ×1',
    'lib/client/store/outbox.ts: createQueue ×1',
    'lib/storage/postgres/connector.ts: createPool ×1',
    'lib/storage/postgres/pooler.ts: createPool ×1',
    'lib/storage/shared/turn.ts: createSlots ×1',
    'lib/storage/shared/turn.ts: unavailable ×1',
  ],
  'has a limit of all alone, or only what open calls and streams ask for: each has a connection of server.max_connections':
    [
      'lib/assistant/chunk-writer.ts: createConversationQueue ×1',
      'lib/chat/attachments/cleaning.ts: createEventLoopQueue ×1',
      'lib/chat/events/service.ts: createDeliveryQueue ×1',
      'lib/chat/messages/queue.ts: createPlainPlaces ×1',
      'lib/chat/messages/queue.ts: createWriteQueue ×1',
      'lib/chat/notifications/host.ts: createHostQueue ×1',
      'lib/chat/people/updates.ts: createCoalescer ×1',
      'lib/chat/presence/publishing.ts: createCoalescer ×1',
      'lib/chat/presence/stream-counts.ts: createCoalescer ×1',
      'lib/chat/reactions/adding.ts: createWriteQueue ×1',
      'lib/chat/receipts/publishing.ts: createCoalescer ×1',
      'lib/chat/search/indexer.ts: createBatches ×1',
      'lib/guests/service.ts: rate_limited ×1',
      'lib/create-context.ts: createGuestPlaces ×1',
      'lib/cluster/bus.ts: createSignalQueue ×1',
      'lib/cluster/signals.ts: createCoalescer ×1',
      'lib/cluster/signals.ts: createSignalQueue ×1',
      'lib/create-files.ts: createCleaningQueue ×1',
      'lib/create-context.ts: createReadUpdates ×1',
      'lib/create-context.ts: createUserUpdates ×1',
      'lib/create-context.ts: createPostQueue ×1',
      'lib/create-context.ts: createReactionQueue ×1',
      'lib/files/file-store.ts: createDiskPacer ×1',
      'lib/http/app.ts: createResponseBatches ×1',
      'lib/http/node/requests-in-flight.ts: createGate ×1',
      'lib/integrations/webhooks/holding.ts: createSlots ×1',
      'lib/integrations/webhooks/sender.ts: createSlots ×1',
      'lib/live/hub/hub.ts: createEventLoopQueue ×1',
      'lib/live/transaction/write-queue.ts: createBatches ×1',
      'lib/storage/sqlite/database.ts: createGate ×1',
      'lib/storage/sqlite/group-commit.ts: createBatches ×1',
    ],
  'is made of the limits above': [
    'lib/chat/presence/watch.ts: createPlaces ×1',
    'lib/create-context.ts: createAttempts ×1',
    'lib/create-context.ts: createAuthFailures ×1',
    'lib/create-context.ts: createLimiter ×1',
    'lib/integrations/webhooks/calls.ts: createCallSlots ×1',
    'lib/live/hub/hub.ts: createStalledStreams ×1',
    'lib/live/hub/hub.ts: createStreams ×1',
  ],
  'refuses for the state of the service, of its storage or of a file, not for what a caller has': [
    'lib/accounts/jwt/key-set.ts: unavailable ×1',
    'lib/accounts/sessions/service.ts: unavailable ×1',
    'lib/assistant/runner.ts: unavailable ×2',
    'lib/chat/attachments/cleaning.ts: unavailable ×1',
    'lib/chat/attachments/completing.ts: unavailable ×1',
    'lib/chat/avatars/service.ts: unavailable ×1',
    'lib/chat/attachments/part-slots.ts: unavailable ×1',
    'lib/chat/hooks/before.ts: unavailable ×1',
    'lib/chat/usage/service.ts: unavailable ×1',
    'lib/core/lifecycle.ts: unavailable ×1',
    'lib/protocols/rows/segments.ts: unavailable ×1',
    'lib/files/failures.ts: storage_full ×1',
    'lib/files/failures.ts: unavailable ×1',
    'lib/files/file-store.ts: unavailable ×1',
    'lib/files/guard.ts: unavailable ×1',
    'lib/http/response/redirect.ts: unavailable ×1',
    'lib/host-transaction/settle.ts: unavailable ×1',
    'lib/live/hub/quota.ts: unavailable ×1',
    'lib/ops/service.ts: unavailable ×1',
    'lib/storage/calls-in-flight.ts: unavailable ×1',
    'lib/storage/errors.ts: storage_full ×1',
    'lib/storage/errors.ts: unavailable ×1',
    'lib/storage/postgres/refusals.ts: unavailable ×2',
    'lib/storage/postgres/tls.ts: unavailable ×1',
    'lib/storage/shared/database.ts: unavailable ×1',
    'lib/storage/sqlite/file.ts: unavailable ×1',
    'lib/storage/sqlite/full-disk.ts: storage_full ×1',
  ],
}

/** Names of functions that make something in which callers wait or are counted. */
const MAKES =
  /^create\w*(JsonLines|Mutex|Pacer|Slots|Places|Quota|Queue|Buckets|Attempts|Streams|Failures|Limiter|Batches|Coalescer|(?<!Uptime)Gate|Pool|Pauses|Updates)$/

/** Names of functions that count a caller in the database. */
const COUNTS = /^(takeShared|reserveAttempt)$/

/** The codes that a caller gets who has too much, or when all have. */
const REFUSES = /^(rate_limited|too_many_streams|quota_exceeded|unavailable|storage_full)$/

/** Keys of the configuration that set the share of a caller. */
const SHARES = /(^|_)per_(?!min$|message$)/

function findLimits(): string[] {
  const found = findInSources((node) => {
    const { callee, arguments: given } = node as SourceNode & {
      callee?: { name?: string; property?: { name?: string } }
      arguments?: { value?: unknown }[]
    }
    const name = callee?.name ?? callee?.property?.name ?? ''
    const code = name === 'ChatError' ? String(given?.[0]?.value) : ''
    return MAKES.test(name) || COUNTS.test(name) ? name : REFUSES.test(code) ? code : undefined
  })
  const keys = configKeys().map(({ key }) => key)
  return [
    ...found.flatMap(([file, names]) => counted(names).map((what) => `${file}: ${what}`)),
    ...keys.filter((key) => SHARES.test(key.split('.').at(-1)!)).map((key) => `config ${key}`),
  ]
}

it('knows the share of a caller and the sum of all callers of every limit', () => {
  const decided = [...Object.values(LIMITS).flatMap(({ at }) => at), ...Object.values(OTHERS).flat()]
  expect(decided.filter((each, n) => decided.indexOf(each) !== n)).toEqual([])
  expect(undecided(findLimits(), decided)).toEqual([])
})

it('has a test at the sum of each limit', () => {
  const missing = Object.values(LIMITS).filter(
    ({ shown: [file, title] }) => !readFileSync(file, 'utf8').includes(title),
  )
  expect(missing).toEqual([])
})
