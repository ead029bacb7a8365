const HELD_CLOCK = 'holds the clock of the service; nodes use that of the database for the presence of each other'
const OWN_NODES = 'starts its nodes itself'
const OWN_LOG = 'reads the log of one process'
const OWN_METRICS = 'reads the metrics of one process'
const OWN_FILES = 'each process limits for itself what a user uploads and reads at once'
const OWN_COUNT = 'each process counts this for itself, as docs/concepts/rate-limits.md says'

/**
 * What `npm run test:nodes` leaves out of the tests that it runs with two nodes, and why: they hold, count or stop what
 * belongs to one process. `tests` are by file, and begin with what the report shows before the name of the test, if only
 * that database or group is meant.
 */
export const ONE_PROCESS: { files: Record<string, string>; tests: Record<string, Record<string, string>> } = {
  files: {
    'test/{live/{all-order,catch-up,joined,nodes,order,feed/own-commits,recovered,log/revocations},chat/{conversations/deletion-nodes,presence/places}}.test.ts':
      OWN_NODES,
    'test/cluster/*.test.ts': OWN_NODES,
    'test/{tools/use-chat,examples/openai-python}.test.ts': OWN_NODES,
    'test/cli/**/*.test.ts': 'runs commands beside one process',
    'test/storage/**/*.test.ts': 'is about what a database stores, and about its failures',
    'test/files/guard.test.ts': 'is about the guard of one process, which it makes itself',
    'test/backups/*.test.ts': 'makes the backups of one process, and starts another one itself',
    'test/shared-transaction*.test.ts': 'is about the connection that one process shares with its host',
    'test/config/secrets.test.ts': 'starts one process again with another configuration',
    'test/ops/{clock,clock-server}.test.ts': 'steps the clock of one process, and has a second node itself',
    'test/fault/full-disk.test.ts': 'is about the processes of one disk, which it starts itself',
    'test/chat/attachments/missing-storage.test.ts':
      'takes the storage away from one process, and has a second node itself',
    'test/{metrics/registry,ops/readiness}.test.ts': 'reads the metrics and the readiness of one process',
    'test/http/response/{sse,stalls}.test.ts': 'is about the connections and the memory of one process',
    'test/chat/search/store-fts5.test.ts': 'calls the store of the search itself',
    'test/http/lists-changing.test.ts': 'changes rows in the database itself: who serves a page makes no difference',
    'test/accounts/host-identity/logout.test.ts': 'counts the streams of one process, and has a second node itself',
    'test/live/encoding.test.ts': 'compares the bytes that one process sends to its streams',
    'test/live/{new-threads,together}.test.ts': 'counts the reads of one process',
    'test/live/{crowded,stuck}.test.ts': 'is about the streams that one process serves at once, and their clients',
    'test/live/places.test.ts': 'asks the database itself for places, and deletes events there',
    'test/live/log/restored-dump.test.ts': 'changes rows in the database itself, and starts one process again on them',
    'test/live/hub/hub.test.ts': 'holds and fails the reads of one process; test/live/nodes.test.ts is about two',
  },
  tests: {
    'test/accounts/profile/service.test.ts': { 'both take the same work': 'counts the work of one process' },
    'test/assistant/leases.test.ts': { 'are awaited when the service stops': 'stops one process' },
    'test/assistant/streaming.test.ts': { 'are counted by outcome': OWN_METRICS },
    'test/chat/attachments/checking.test.ts': { 'are counted in the metrics': OWN_METRICS },
    'test/chat/attachments/read-slots.test.ts': { 'of a user are limited, by links, too': OWN_FILES },
    'test/chat/attachments/parts.test.ts': { 'takes a number of parts of a user at once': OWN_FILES },
    'test/chat/notifications/host.test.ts': {
      'is called once in 30 seconds':
        'each process counts the 30 seconds for itself, as docs/guides/notify-people.md says',
      'gets what is read after the commit': 'fills the queue of one process',
    },
    'test/chat/presence/routes.test.ts': {
      'is valid for 60 seconds, and last_seen_at stays': HELD_CLOCK,
      'an open stream': HELD_CLOCK,
      'is sent once for the changes of a moment': HELD_CLOCK,
    },
    'test/chat/search/routes.test.ts': {
      'goes on without a message that the database refuses': OWN_LOG,
    },
    'test/http/trouble.test.ts': { 'logs once, and with the reason': OWN_LOG },
    'test/limits/auth-failures.test.ts': { 'over HTTP': OWN_COUNT },
    'test/limits/routes.test.ts': {
      'apply by default, too, after a clock has stepped back': OWN_COUNT,
      'count by default per process and user': OWN_COUNT,
      'divide the default limit among the workers': OWN_COUNT,
    },
    'test/live/feed/feed.test.ts': { 'of its thread in one write': 'the other node sends what is ephemeral apart' },
    'test/live/stream.test.ts': {
      'has the same headers and the same bytes': 'compares with a response of the first node',
    },
    'test/ops/routes.test.ts': { 'is not ready without its database': 'closes the database of one process' },
    'test/live/closing.test.ts': { 'with draining, all of them': 'drains one process' },
    'test/live/hub/typings.test.ts': { 'ends on the streams of each node': OWN_NODES },
  },
}
