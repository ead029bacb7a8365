import { afterEach, expect, it, vi } from 'vitest'
import { parseConfig } from '../lib/config/parse.ts'
import type { Context, LogFields } from '../lib/context.ts'
import { createJobs } from '../lib/jobs.ts'

afterEach(() => void vi.useRealTimers())

it('logs once, with its cause, that a job fails', async () => {
  vi.useFakeTimers()
  const failed = new Set<string>()
  const warnings: [string, LogFields | undefined][] = []
  const fail = () => Promise.reject(new Error('the disk is gone'))
  const ctx = {
    config: parseConfig({ attachments: { enabled: true } }),
    log: { warn: (message: string, fields?: LogFields) => void warnings.push([message, fields]) },
    metrics: { job: (name: string) => (isDone: boolean) => void (isDone || failed.add(name)) },
    streams: { hub: { sendHeartbeats: fail, recheckLogins: fail }, presence: { sweep: fail } },
    answers: { renewLeases: fail },
    backups: { check: fail },
    ops: { clockKeeper: { check: fail } },
    clock: { before: () => 0 },
    db: { dialect: 'sqlite', all: fail, get: fail },
    write: fail,
  }
  const jobs = createJobs(ctx as unknown as Context)
  await jobs.start()
  await vi.advanceTimersByTimeAsync(3 * 60_000)
  await jobs.stop()

  expect([...failed].sort()).toEqual([
    'backups',
    'callers',
    'clock',
    'commands',
    'deliveries',
    'files',
    'follows',
    'guests',
    'heartbeats',
    'leases',
    'names',
    'place',
    'presence',
    'recount',
    'repliers',
    'retention',
    'stalled',
    'unread',
    'usage',
    'wal',
  ])
  expect(new Set(warnings.map(([message]) => message)).size).toBe(failed.size)
  expect(warnings).toHaveLength(failed.size)
  for (const [, fields] of warnings) expect(fields).toEqual({ cause: expect.any(String) })
})
