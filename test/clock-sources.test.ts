import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Sources whose time is that of a browser: what is stored and judged is the service's. */
const OF_BROWSERS = /^lib\/(client|web|api)\//

const root = new URL('..', import.meta.url)
const SOURCES = ['lib', 'cli']
  .flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).map((path) => posix.join(folder, path)),
  )
  .filter((path) => path.endsWith('.ts') && !OF_BROWSERS.test(path))
  .map((path) => ({ path, text: withoutComments(readFileSync(new URL(path, root), 'utf8')) }))

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/ .*$/gm, '$1')
}

const filesWith = (pattern: RegExp) => SOURCES.filter(({ text }) => pattern.test(text)).map(({ path }) => path)

/** What asks the clock of the machine, in every way that JavaScript has. */
const MACHINE =
  /\bDate\s*\.\s*now\b|\bnew Date\b(?!\()|\bnew Date\(\s*\)|(?<![\w.]|new )Date\(\s*\)|\bTemporal\b|\btimeOrigin\b/

/** Those who may ask the clock of the machine, each with the reason why it is not `ctx.now`. */
const MACHINE_CLOCK: Record<string, string> = {
  'lib/core/time.ts': 'it is the port to it',
  'lib/accounts/jwt/port.ts': 'a login of a host, before there is a service',
  'lib/core/clock.ts': 'the clock of a service is made of it',
  'lib/testing/clock.ts': 'a clock of tests',
  'lib/storage/open.ts': 'values in the memory of this process, which expire in seconds and may be lost',
  'lib/storage/inspect.ts': 'compares it with the clock of the database',
  'lib/storage/temporary.ts': 'compares it with the times of files, which are of the same clock',
  'lib/storage/archive/export.ts': 'the time that an archive names; of what is left out a clock ahead changes nothing',
  'lib/storage/archive/conversation-export.ts': 'the time that an archive names',
  'lib/storage/copied-answers.ts': 'when decisions have expired in a copy, which no service has opened',
  'lib/storage/disabled-webhooks.ts': 'when the webhooks of a copy were disabled, which no service has opened',
  'lib/metrics/jobs.ts': 'the time of a metric, which Prometheus compares with its own',
  'cli/copies.ts': 'the name of a file',
  'cli/logging/logger.ts': 'the time of a log line',
  'cli/doctor/server.ts': 'compares it with the clock of a service',
  'cli/doctor/upstreams.ts': 'how long a provider of sign-ins may be kept in memory',
}

/** What asks the clock of the database. */
const DATABASE =
  /\bdatabaseNow\(|\bunixepoch\b|\bclock_timestamp\b|\bstatement_timestamp\b|\bCURRENT_TIME|\bjulianday\b|\bnow\(\)\s*-\s*interval/

/** Those who may, each with the reason. A step of the clock makes what they do early or late, and loses nothing. */
const DATABASE_CLOCK: Record<string, string> = {
  'lib/storage/sql.ts': 'it is the expression',
  'lib/storage/clock-notes.ts': 'sets the clock of a service to it',
  'lib/storage/inspect.ts': 'compares it with the clock of the machine',
  'lib/storage/schema/migrate.ts': 'stores when a migration was applied',
  'lib/storage/postgres/vacuum.ts': 'compares it with times of the same server',
  'lib/storage/postgres/client.ts': 'compares it with times of the same server',
  'lib/receive/pg-store.ts': 'in the database of a receiver: ids that are thirty days old',
  'lib/receive/sqlite-store.ts': 'in the database of a receiver: ids that are thirty days old',
  'lib/receive/receive-schema.ts': 'in the database of a receiver: when an event was applied',
  'lib/backups/store.ts': 'leases',
  'lib/tasks/store.ts': 'leases and tasks that are due',
  'lib/mail/store.ts': 'leases and mails that are due',
  'lib/chat/answers/store.ts': 'leases',
  'lib/chat/answers/store-runs.ts': 'leases',
  'lib/chat/copies/store.ts': 'tasks that are due',
  'lib/integrations/webhooks/store-sending.ts': 'leases',
  'lib/cluster/store.ts': 'node heartbeats',
  'lib/cluster/store-presence.ts': 'presence, as ages of the same clock',
  'lib/cluster/store-signals.ts': 'signals, which live for seconds',
}

describe('the clock', () => {
  it('of the machine is asked by those only that have a reason', () => {
    // When a process began, for Prometheus, is of the process and not of the service; a receiver has no service.
    const places = ['lib/core/time.ts', 'lib/metrics/process.ts', 'lib/receive/verify-webhook.ts']
    expect(filesWith(MACHINE)).toEqual(places)
    const askers = filesWith(/\bcurrent(Micros|Millis)\b/)
    expect(askers.sort()).toEqual(Object.keys(MACHINE_CLOCK).sort())
  })

  it('of the database is asked by those only that have a reason', () => {
    expect(filesWith(DATABASE).sort()).toEqual(Object.keys(DATABASE_CLOCK).sort())
  })
})

/** Rows that are deleted by a comparison which is none of their age, or which a wrong clock may make. */
const NOT_BY_AGE: Record<string, string> = {
  'lib/accounts/password-resets/store.ts takeReset': 'the reset is used',
  'lib/accounts/sessions/store-list.ts deleteLiveSession': 'a person ends it: it must live',
  'lib/accounts/sessions/store.ts evictSessions': 'a new sign-in takes the place of the oldest one',
  'lib/accounts/sessions/store-rotated.ts rememberRotated': 'the oldest beyond a number',
  'lib/chat/commands/store.ts deleteKeyed': 'a person makes another call with the key',
  'lib/chat/messages/store-revisions.ts': 'the oldest beyond a number',
  'lib/chat/notifications/store-removing.ts removeOldest':
    'up to what was found with such an instant, or beyond a number',
  'lib/cluster/store.ts removeDead': 'node heartbeats: a process that was removed adds its row again',
  'lib/cluster/store-presence.ts deleteUnseen': 'presence: the caller asks whether the clock is trusted',
  'lib/cluster/store-signals.ts deleteSignals': 'signals, which live for seconds',
  'lib/chat/answers/store.ts deleteUnderWay': 'leases',
  'lib/receive/sqlite-store.ts': 'in the database of a receiver, which has no service',
  'lib/integrations/webhooks/store-deliveries.ts trimDeliveries': 'the oldest beyond a number',
  'lib/live/log/restored-dump.ts': 'a number of a transaction',
}

/** A comparison of sizes in SQL: `expires_at < ?`. */
const COMPARISON = /\w\)? [<>]=? (\?|\$\{|CAST|\()/

/** Each function that deletes rows, and has a comparison of sizes. */
const DELETIONS = SOURCES.filter(({ path }) => !path.startsWith('lib/storage/schema/')).flatMap(({ path, text }) => {
  const functions = text.split(/^(?=(?:export )?(?:async )?function\*? )/m)
  return functions.flatMap((source) => {
    if (!/\bDELETE FROM\b/.test(source) || !COMPARISON.test(source)) return []
    const [, name = '', takes = ''] = /function\*? (\w+)([\s\S]*?)\{\n/.exec(source) ?? []
    return [{ path, name, takesCutoff: /\bCutoff\b/.test(takes) }]
  })
})

describe('a deletion by age', () => {
  it('takes its instant from a clock that is trusted', () => {
    const found = DELETIONS.filter(({ takesCutoff }) => !takesCutoff).map(({ path, name }) => `${path} ${name}`)
    const isKnown = (place: string) =>
      Object.keys(NOT_BY_AGE).some((known) => place === known || place.startsWith(`${known} `))
    expect(found.filter((place) => !isKnown(place))).toEqual([])
    // No reason outlives what it is for.
    expect(Object.keys(NOT_BY_AGE).filter((known) => !found.some((place) => place.startsWith(known)))).toEqual([])
    expect(DELETIONS.filter(({ takesCutoff }) => takesCutoff).length).toBeGreaterThan(12)
  })

  it('has no other maker of such an instant', () => {
    expect(filesWith(/\bas Cutoff\b/)).toEqual(['lib/core/clock.ts'])
  })

  it('of files is found by their times in these places only', () => {
    expect(filesWith(/\bmtime(Ms)?\b/).sort()).toEqual([
      'cli/copies.ts',
      'lib/storage/objects/fs.ts',
      'lib/storage/temporary.ts',
    ])
  })
})
