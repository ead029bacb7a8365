import cluster from 'node:cluster'
import type { Config } from '../../lib/config/parse.ts'
import type { Log } from '../../lib/context.ts'
import { contextOf } from '../../lib/core/context-of.ts'
import type { Chat } from '../../lib/index.ts'
import type { Reading } from '../../lib/metrics/page.ts'
import { readLevels } from '../../lib/ops/levels.ts'
import type { ReloadFlags } from '../config/watch.ts'
import { toFailure } from '../errors.ts'
import { createLogger } from '../logging/logger.ts'
import { outliveOutput } from '../output.ts'
import { ignoreUserSignals } from '../signals.ts'
import { asWorkerConfig, sendToPrimary, type ToWorker, WORKER_VARIABLE } from './messages.ts'
import { createMetricsRequests } from './metrics-requests.ts'
import { type NodeOptions, type ServiceNode, startNode } from './node.ts'

/** Whether this process is a worker that `serve` started. */
export function isWorker(): boolean {
  return cluster.isWorker && process.env[WORKER_VARIABLE] !== undefined
}

/** Serves as one of several processes that share a port, until the primary process asks it to stop, or ends. */
export async function serveAsWorker(flags: ReloadFlags): Promise<never> {
  const stop = firstReasonToStop()
  let isUp = false
  void stop.then(() => isUp || process.exit(0))
  const { config } = await next('start')
  const log = createLogger(config.log)
  outliveOutput(log)
  try {
    // Before it listens: the first request may be for the metrics.
    const node = await startNode(config, log, {
      reloading: reloadingOf(config, flags),
      onDatabase: async (chat) => answerForAll(chat),
    })
    isUp = true
    reloadOnMessage(node)
    await sendToPrimary({ kind: 'ready', url: node.url, address: node.address })
    await drain(node, await stop, log)
  } catch (error) {
    await sendToPrimary({ kind: 'failed', failure: toFailure(error) })
    process.exit(1)
  }
  process.exit(0)
}

/** Why a worker stops. */
type Reason = 'asked' | 'orphaned' | NodeJS.Signals

/** A terminal or a supervisor may signal all processes at once: only the first reason counts. */
function firstReasonToStop(): Promise<Reason> {
  // Otherwise node:cluster ends the process as soon as the primary has ended.
  cluster.worker!.exitedAfterDisconnect = true
  return new Promise((resolve) => {
    process.on('SIGTERM', resolve).on('SIGINT', resolve)
    // A terminal sends it to all processes: the primary decides.
    process.on('SIGHUP', () => {})
    ignoreUserSignals()
    process.once('disconnect', () => resolve('orphaned'))
    void next('stop').then(() => resolve('asked'))
  })
}

/**
 * On request of `chat-server reload` the worker reads the configuration again. Workers that start later get from the primary
 * process what is in effect here.
 */
function reloadingOf(config: Config, flags: ReloadFlags): NodeOptions['reloading'] {
  // Whether there is a page, the primary process has found out.
  const page = (read: Config) => ({
    ...read,
    server: { ...read.server, web: read.server.web !== false && config.server.web },
  })
  return {
    flags,
    adapt: (read) => asWorkerConfig(page(read), config.server.port),
    onReloaded: (inEffect) => void sendToPrimary({ kind: 'reloaded', config: inEffect }),
  }
}

/** The primary process sends a configuration that it has read. */
function reloadOnMessage({ reload }: ServiceNode): void {
  process.on('message', async (message: ToWorker) => {
    if (message.kind !== 'reload') return
    const { reloaded } = await reload(message.config)
    if (!reloaded) await sendToPrimary({ kind: 'refused' })
  })
}

async function drain({ chat, stop }: ServiceNode, reason: Reason, log: Log): Promise<void> {
  if (reason === 'orphaned') log.warn('Draining: the primary process has ended.')
  else if (reason !== 'asked') log.info('Draining.', { signal: reason })
  // Without a primary no new connection reaches this process: there is nothing to wait for.
  await stop(reason === 'orphaned' ? { delay_seconds: 0 } : {})
  await sendToPrimary({ kind: 'report', readings: await readMetrics(chat) })
}

/** The next message of a kind. */
function next<Kind extends ToWorker['kind']>(kind: Kind): Promise<Extract<ToWorker, { kind: Kind }>> {
  return new Promise((resolve) => {
    const onMessage = (message: ToWorker) => {
      if (message.kind !== kind) return
      process.off('message', onMessage)
      resolve(message as Extract<ToWorker, { kind: Kind }>)
    }
    process.on('message', onMessage)
    if (kind === 'start') void sendToPrimary({ kind: 'hello' })
  })
}

/** Has `/metrics` return the values of all workers, and reports the own ones when the primary process asks. */
function answerForAll(chat: Chat): void {
  const { ask, answered } = createMetricsRequests((request) => void sendToPrimary({ kind: 'collect', request }))
  contextOf(chat).metrics.collectFrom(async () => (process.connected && (await ask())) || readMetrics(chat))
  process.on('message', async (message: ToWorker) => {
    if (message.kind === 'report')
      await sendToPrimary({ kind: 'report', round: message.round, readings: await readMetrics(chat) })
    if (message.kind === 'together') answered(message.request, message.readings)
  })
}

async function readMetrics(chat: Chat): Promise<Reading[]> {
  const ctx = contextOf(chat)
  return ctx.metrics.read(await readLevels(ctx))
}
