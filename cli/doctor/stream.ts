import { readEvents } from '../../lib/client/event-stream.ts'
import { OPERATOR } from '../../lib/core/actor.ts'
import { contextOf } from '../../lib/core/context-of.ts'
import { createCondition } from '../../lib/core/scheduling/condition.ts'
import { withDeadline } from '../../lib/core/scheduling/deadline.ts'
import type { Probe } from '../../lib/ops/probe.ts'
import type { Chat } from '../../lib/service.ts'
import { type Finding, failure, ok, skipped, warning } from './finding.ts'
import { describeFailure } from './http.ts'
import { checkMcpStream } from './mcp.ts'
import { measureIdle, measureUpload } from './proxy.ts'

/** How long an event may take. A buffered event arrives only at the end of the stream, which may take hours. */
const EVENT_TIMEOUT_MS = 10_000

/**
 * Follows a real stream at `url` as a temporary user, and checks that events arrive as they happen.
 *
 * @param proxied whether a proxy may be on the way: then its limits are measured as well
 */
export async function checkStream(chat: Chat, url: string, { proxied = false } = {}): Promise<Finding[]> {
  const { config } = contextOf(chat)
  const may_upload = proxied && config.attachments.enabled === true
  const probe = await chat.ops.probe(OPERATOR, { may_upload })
  if (!probe)
    return [
      skipped('stream', 'The service is not set up yet, so no user can open a stream.', 'Run "chat-server setup".'),
    ]
  const abort = new AbortController()
  // An interrupted test still deletes its user.
  const removeAndExit = () => probe.remove().finally(() => process.exit(130))
  for (const signal of INTERRUPTS) process.once(signal, removeAndExit)
  try {
    return await follow(chat, { url, probe, proxied, signal: abort.signal })
  } catch (error) {
    return [
      failure(
        'stream.failed',
        `The event stream at ${url} cannot be opened: ${describeFailure(error)}.`,
        'Check the log of the proxy and its timeouts.',
      ),
    ]
  } finally {
    abort.abort()
    await probe.remove()
    for (const signal of INTERRUPTS) process.off(signal, removeAndExit)
  }
}

const INTERRUPTS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

async function follow(
  chat: Chat,
  { url, probe, proxied, signal }: { url: string; probe: Probe; proxied: boolean; signal: AbortSignal },
): Promise<Finding[]> {
  const { config } = contextOf(chat)
  const { session_cookie_name } = config.session
  const began = performance.now()
  // A proxy that buffers the body may buffer the headers as well, so their time is part of the test.
  const reader = open(`${url}/api/stream/conversations/${probe.conversation_id}`, {
    headers: { accept: 'text/event-stream', cookie: `${session_cookie_name}=${probe.token}` },
    redirect: 'manual',
    signal,
  })
  const first = await withDeadline(reader.until('stream.ready'), EVENT_TIMEOUT_MS, 'late')
  const refusal = describeRefusal(await reader.status(), url)
  if (refusal) return [refusal]
  if (first !== 'arrived') {
    await probe.remove()
    return [await describeDelay(reader, url)]
  }
  const readyMs = performance.now() - began
  const nudged = performance.now()
  await probe.nudge()
  const second = await withDeadline(reader.until('conversation.updated'), EVENT_TIMEOUT_MS, 'late')
  if (second === 'arrived') {
    const times = `the first after ${Math.round(readyMs)} ms, a new one after ${Math.round(performance.now() - nudged)} ms`
    const flows = [...compression(reader.headers()), ok('stream.flows', `Events arrive as they happen: ${times}.`)]
    if (!proxied) return flows
    if (config.features.mcp) flows.push(await checkMcpStream(chat, url, probe))
    const ended = reader.until(NEVER)
    return [
      ...flows,
      ...(await measureUpload(config, { url, probe, signal })),
      ...(await measureIdle(config, url, ended)),
    ]
  }
  if (second === 'ended')
    return [failure('stream.cut', `The event stream at ${url} ends right after its start.`, PROXY_REMEDY)]
  await probe.remove()
  return [await describeDelay(reader, url)]
}

/** No event has this type: what waits for it waits for the end of the stream. */
const NEVER = ''

const PROXY_REMEDY =
  'Turn off response buffering in the proxy (nginx: proxy_buffering off, and no proxy_ignore_headers X-Accel-Buffering; Caddy: no flush_interval, as it does not buffer by itself), and compression of text/event-stream.'

/** The service ends the stream when its session ends: events that arrive only then were buffered. */
async function describeDelay(reader: StreamReader, url: string): Promise<Finding> {
  const end = await withDeadline(reader.until('stream.closed'), EVENT_TIMEOUT_MS, 'late')
  if (end === 'arrived')
    return failure(
      'stream.buffered',
      `A proxy on the way to ${url} buffers events until the stream ends.`,
      PROXY_REMEDY,
    )
  return failure(
    'stream.silent',
    `The event stream at ${url} is open, but no event arrives within ${EVENT_TIMEOUT_MS / 1000} seconds.`,
    PROXY_REMEDY,
  )
}

function describeRefusal(status: number | undefined, url: string): Finding | undefined {
  if (status === undefined || status === 200) return undefined
  if (status === 401)
    return failure(
      'stream.other_database',
      `The service at ${url} does not know a session of this database: it uses another database or other cookie names.`,
      'Run this command with the configuration of the service.',
    )
  return failure(
    'stream.refused',
    `The event stream at ${url} returns status ${status}.`,
    'Let the proxy forward /api/stream, and read the log of the service.',
  )
}

function compression(headers: Headers): Finding[] {
  const encoding = headers.get('content-encoding')
  if (!encoding || encoding === 'identity') return []
  return [
    warning(
      'stream.compressed',
      `A proxy compresses event streams (${encoding}); it may delay small events.`,
      'Exclude text/event-stream from compression in the proxy.',
    ),
  ]
}

interface StreamReader {
  /** Resolves when an event of the type has arrived, or the stream has ended without it. */
  until(type: string): Promise<'arrived' | 'ended'>
  /** `undefined` until the headers arrive. @throws the error that prevented them */
  status(): Promise<number | undefined>
  headers(): Headers
}

function open(url: string, init: RequestInit): StreamReader {
  const seen = new Set<string>()
  let response: Response | undefined
  let end: { failure?: unknown } | undefined
  const progress = createCondition()
  const read = async () => {
    response = await fetch(url, init)
    if (response.status !== 200) return
    for await (const { type } of readEvents(response.body!)) {
      seen.add(type)
      progress.changed()
    }
  }
  const finish = (result: { failure?: unknown }) => {
    end = result
    progress.changed()
  }
  read().then(
    () => finish({}),
    (failure: unknown) => finish({ failure }),
  )
  return {
    async until(type) {
      while (!seen.has(type) && !end) await progress.wait()
      return seen.has(type) ? 'arrived' : 'ended'
    },
    async status() {
      if (!response && end?.failure) throw end.failure
      return response?.status
    },
    headers: () => response?.headers ?? new Headers(),
  }
}
