import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Log } from '../../lib/context.ts'
import { warnOnce } from '../../lib/core/scheduling/once.ts'
import { UsageError } from '../args/command.ts'

/** Tells the supervisor of this process about its state (sd_notify(3)). */
export interface Supervisor {
  /** The service listens, or has finished a reload. */
  ready(): void
  reloading(): void
  /** The service drains. */
  stopping(): void
  /** Resolves once everything is sent. */
  close(): Promise<void>
}

/** A message takes a few milliseconds; a systemd that hangs must not hold up a stop. */
const TIMEOUT_MS = 5_000

const run = promisify(execFile)

/**
 * Notifies systemd through its program `systemd-notify`, since Node has no datagram sockets in the file system. Without
 * systemd, or without the program, nothing is sent.
 */
export function createSupervisor(log: Pick<Log, 'warn'>, env: NodeJS.ProcessEnv = process.env): Supervisor {
  let last: Promise<unknown> = Promise.resolve()
  const failed = warnOnce((error: unknown) => log.warn('systemd could not be notified.', { error }))

  function notify(...assignments: string[]): void {
    if (!env.NOTIFY_SOCKET) return
    // One after the other: their order is their meaning.
    last = last.then(() => run('systemd-notify', assignments, { env, timeout: TIMEOUT_MS })).catch(failed)
  }

  const watchdog = startWatchdog(env, () => notify('WATCHDOG=1'))
  return {
    ready: () => notify('READY=1'),
    reloading: () => notify('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`),
    stopping: () => notify('STOPPING=1'),
    async close() {
      clearInterval(watchdog)
      await last
    },
  }
}

/** Reports twice in each period of the unit's `WatchdogSec` that the event loop runs. */
function startWatchdog({ WATCHDOG_USEC, WATCHDOG_PID }: NodeJS.ProcessEnv, report: () => void) {
  const period_ms = Number(WATCHDOG_USEC) / 1000
  const isForOther = WATCHDOG_PID !== undefined && Number(WATCHDOG_PID) !== process.pid
  if (!(period_ms >= 1) || isForOther) return undefined
  return setInterval(report, Math.min(2 ** 31 - 1, period_ms / 2)).unref()
}

/** The number of the first socket that a process is passed (sd_listen_fds(3)). */
const FIRST_SOCKET = 3

/**
 * The socket that systemd has opened for this process; `undefined` without socket activation.
 *
 * @throws UsageError when it has opened several
 */
export function inheritedSocket(env: NodeJS.ProcessEnv = process.env): number | undefined {
  const count = Number(env.LISTEN_PID) === process.pid ? Number(env.LISTEN_FDS) : 0
  if (!(count >= 1)) return undefined
  if (count > 1)
    throw new UsageError(`systemd passes ${count} sockets, and the service listens on one: correct the unit`)
  // Not for the processes that this one starts.
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) delete env[name]
  return FIRST_SOCKET
}
