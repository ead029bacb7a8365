import { OPERATOR } from '../../lib/core/actor.ts'
import type { Probe } from '../../lib/ops/probe.ts'
import type { Chat } from '../../lib/service.ts'
import { type Finding, failure, ok, skipped, warning } from './finding.ts'
import { describeFailure } from './http.ts'

/** How long an event may be on its way. One that is held back comes with the end of the stream, which may be hours. */
const EVENT_MS = 10_000

/** Follows a real stream at `url`, as a stranger made for it: does what happens arrive when it happens? */
export async function checkStream(chat: Chat, url: string): Promise<Finding[]> {
  const probe = await chat.ops.probe(OPERATOR)
  if (!probe)
    return [skipped('stream', 'Nobody is set up yet, so nobody can open a stream.', 'Run "chat-server setup".')]
  const hangUp = new AbortController()
  // Who does not want to wait for a stream that is held back leaves nobody behind.
  const leave = () => probe.remove().finally(() => process.exit(130))
  for (const signal of LEAVING) process.once(signal, leave)
  try {
    return await follow(chat, url, probe, hangUp.signal)
  } catch (error) {
    return [
      failure(
        'stream.failed',
        `The event stream at ${url} cannot be opened: ${describeFailure(error)}.`,
        'Look at the log of the proxy and at its time-outs.',
      ),
    ]
  } finally {
    hangUp.abort()
    await probe.remove()
    for (const signal of LEAVING) process.off(signal, leave)
  }
}

const LEAVING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

async function follow(chat: Chat, url: string, probe: Probe, signal: AbortSignal): Promise<Finding[]> {
  const { session_cookie_name } = chat.context.config.session
  const began = performance.now()
  // A proxy that holds back what it gets may hold back the headers as well, so their time is part of the trial.
  const reader = open(`${url}/api/stream/conversations/${probe.conversation_id}`, {
    headers: { accept: 'text/event-stream', cookie: `${session_cookie_name}=${probe.token}` },
    redirect: 'manual',
    signal,
  })
  const first = await within(reader.until('event: stream.ready'))
  const refusal = refusalOf(await reader.status(), url)
  if (refusal) return [refusal]
  if (first !== 'arrived') {
    await probe.remove()
    return [await heldBack(reader, url)]
  }
  const readyMs = performance.now() - began
  const nudged = performance.now()
  await probe.nudge()
  const second = await within(reader.until('event: conversation.updated'))
  if (second === 'arrived') {
    const times = `the first after ${Math.round(readyMs)} ms, one of this moment after ${Math.round(performance.now() - nudged)} ms`
    return [...compression(reader.headers()), ok('stream.flows', `Events arrive as they happen: ${times}.`)]
  }
  if (second === 'ended')
    return [failure('stream.cut', `The event stream at ${url} is cut after its start.`, PROXY_REMEDY)]
  await probe.remove()
  return [await heldBack(reader, url)]
}

const PROXY_REMEDY =
  'Turn off buffering of answers in the proxy (nginx: proxy_buffering off, and no proxy_ignore_headers X-Accel-Buffering; Caddy: flush_interval -1), and compression of text/event-stream.'

/** Once its session has ended the service ends the stream: what comes only then was kept until then. */
async function heldBack(reader: StreamReader, url: string): Promise<Finding> {
  const end = await within(reader.until('event: stream.closed'))
  if (end === 'arrived')
    return failure(
      'stream.buffered',
      `Something on the way to ${url} holds events back until the stream ends.`,
      PROXY_REMEDY,
    )
  return failure(
    'stream.silent',
    `The event stream at ${url} is open and no event arrives within ${EVENT_MS / 1000} seconds.`,
    PROXY_REMEDY,
  )
}

function refusalOf(status: number | undefined, url: string): Finding | undefined {
  if (status === undefined || status === 200) return undefined
  if (status === 401)
    return failure(
      'stream.other_database',
      `The service at ${url} does not know a session that is in this database: it uses another one, or its cookies have another name.`,
      'Give this command the configuration that the service runs with.',
    )
  return failure(
    'stream.refused',
    `The event stream at ${url} is answered with status ${status}.`,
    'Have the proxy pass /api/stream on, and look at the log of the service.',
  )
}

function compression(headers: Headers): Finding[] {
  const encoding = headers.get('content-encoding')
  if (!encoding || encoding === 'identity') return []
  return [
    warning(
      'stream.compressed',
      `Something on the way compresses event streams (${encoding}); it may hold small ones back.`,
      'Take text/event-stream out of what the proxy compresses.',
    ),
  ]
}

/** A stream that is being read. */
interface StreamReader {
  /** Settles once `text` has come, or the stream has ended without it. */
  until(text: string): Promise<'arrived' | 'ended'>
  /** `undefined` while no headers have come. @throws whatever kept them from coming */
  status(): Promise<number | undefined>
  headers(): Headers
}

function open(url: string, init: RequestInit): StreamReader {
  let seen = ''
  let response: Response | undefined
  let over = false
  let trouble: unknown
  let wake = () => {}
  const read = async () => {
    response = await fetch(url, init)
    if (response.status !== 200) return
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      seen += decoder.decode(chunk, { stream: true })
      wake()
    }
  }
  read()
    .catch((error: unknown) => {
      trouble = error
    })
    .finally(() => {
      over = true
      wake()
    })
  return {
    async until(text) {
      while (!seen.includes(text) && !over) await new Promise<void>((resolve) => (wake = resolve))
      return seen.includes(text) ? 'arrived' : 'ended'
    },
    async status() {
      if (!response && trouble) throw trouble
      return response?.status
    },
    headers: () => response?.headers ?? new Headers(),
  }
}

async function within<T>(work: Promise<T>): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, EVENT_MS, 'late')
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
