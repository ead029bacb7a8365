const HELD_CLOCK = 'holds the clock of the service; nodes use that of the database for the presence of each other'
const OWN_COUNT = 'each process counts this for itself, as docs/concepts/rate-limits.md says'
const LATER = 'expects ephemeral events of another node at once'

/**
 * What `npm run test:nodes` leaves out of the tests that it runs with two nodes, and why: they hold, count or stop what
 * belongs to one process. `tests` are by file, and begin with what the report shows before the name of the test, if only
 * that database or group is meant.
 */
export const ONE_PROCESS: { files: Record<string, string>; tests: Record<string, Record<string, string>> } = {
  files: {
    'test/accounts/host-identity/logout.test.ts': 'counts the streams of one process, and has a second node itself',
    'test/live/hub.test.ts': 'holds and fails the reads of one process; test/live/nodes.test.ts is about two',
  },
  tests: {
    'test/accounts/profile/account.test.ts': { 'both take the same work': 'counts the work of one process' },
    'test/assistant/recovery.test.ts': { 'are awaited when the service stops': 'stops one process' },
    'test/assistant/streaming.test.ts': { 'are counted by outcome': 'reads the metrics of one process' },
    'test/chat/presence/routes.test.ts': {
      'reports its user to others as': HELD_CLOCK,
      'is valid for 60 seconds, and last_seen_at stays': HELD_CLOCK,
      'an open stream': HELD_CLOCK,
      'typing > lasts': HELD_CLOCK,
      'ends with 0 seconds': HELD_CLOCK,
      'is sent once for the changes of a moment': HELD_CLOCK,
    },
    'test/chat/search/routes.test.ts': {
      'goes on without a message that the database refuses': 'reads the log of one process',
    },
    'test/limits/auth-failures.test.ts': { 'over HTTP': OWN_COUNT },
    'test/limits/routes.test.ts': {
      'apply after a clock has stepped back': OWN_COUNT,
      'count by default per process and user': OWN_COUNT,
      'divide the default limit among the workers': OWN_COUNT,
    },
    'test/live/feed.test.ts': { 'of its thread in one write': 'the other node sends what is ephemeral apart' },
    'test/live/stream.test.ts': {
      'without an id > starts with its position': LATER,
      'one more than the maximum per user, until one is freed': 'a stream counts at other nodes within a second',
      'has the same headers and the same bytes': 'compares with a response of the first node',
    },
    'test/live/closing.test.ts': { 'with draining, all of them': 'drains one process' },
  },
}
