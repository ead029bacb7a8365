import { PART_BYTES } from '../../lib/chat/attachments/schema.ts'
import type { Config } from '../../lib/config/parse.ts'
import { withDeadline } from '../../lib/core/scheduling/deadline.ts'
import type { Probe } from '../../lib/ops/probe.ts'
import { type Finding, ok, warning } from './finding.ts'
import { describeFailure } from './http.ts'

/** How long a part may take. A slow line is no fault of the proxy. */
const UPLOAD_TIMEOUT_MS = 30_000

/** Above this interval most proxies, with their defaults, end a stream before its next heartbeat. */
const USUAL_SECONDS = 60

/** The session of the test lives for two minutes. */
const MAX_MEASURED_SECONDS = 90

/** How much longer than the interval a stream is held: heartbeats may be late. */
const GRACE_SECONDS = 2

/** Whether a stream of one heartbeat is too long to be tested. */
export function isUnmeasured({ sse }: Pick<Config, 'sse'>): boolean {
  return sse.heartbeat_seconds > MAX_MEASURED_SECONDS
}

/** The finding about a heartbeat that no proxy was measured with. */
export function judgeHeartbeat({ sse }: Pick<Config, 'sse'>): Finding[] {
  if (sse.heartbeat_seconds <= USUAL_SECONDS) return []
  return [
    warning(
      'stream.slow_heartbeat',
      `sse.heartbeat_seconds is ${sse.heartbeat_seconds}: many proxies end a stream that is silent for ${USUAL_SECONDS} seconds.`,
      'Set it to 20, or raise the read timeout of each proxy above it.',
    ),
  ]
}

/** Waits for a heartbeat on an open stream. @param ended resolves when the stream ends */
export async function measureIdle(config: Config, url: string, ended: Promise<unknown>): Promise<Finding[]> {
  if (isUnmeasured(config)) return judgeHeartbeat(config)
  const seconds = config.sse.heartbeat_seconds
  const began = performance.now()
  const result = await withDeadline(ended, (seconds + GRACE_SECONDS) * 1000, 'open')
  if (result === 'open')
    return [ok('stream.kept', `A stream stays open for the ${seconds} seconds between heartbeats.`)]
  const after = Math.round((performance.now() - began) / 1000)
  return [
    warning(
      'stream.read_timeout',
      `A proxy on the way to ${url} ends a stream after ${after} seconds without an event, before the next heartbeat (sse.heartbeat_seconds = ${seconds}).`,
      'Raise its read timeout (nginx: proxy_read_timeout, HAProxy: timeout server), or lower sse.heartbeat_seconds.',
    ),
  ]
}

/** Uploads a part of a file, as large as parts are, and deletes it. */
export async function measureUpload(
  config: Config,
  { url, probe, signal }: { url: string; probe: Probe; signal: AbortSignal },
): Promise<Finding[]> {
  const { enabled, max_bytes } = config.attachments
  if (!enabled) return []
  const { session, security } = config
  const { cookie_name, header_name } = security.csrf
  const headers = {
    cookie: `${session.session_cookie_name}=${probe.token}; ${cookie_name}=${probe.csrf_token}`,
    [header_name]: probe.csrf_token,
  }
  const call = (method: string, path: string, type: string, body?: BodyInit) =>
    fetch(url + path, {
      method,
      headers: { ...headers, 'content-type': type },
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(UPLOAD_TIMEOUT_MS)]),
      ...(body !== undefined && { body }),
    })
  const bytes = Math.min(PART_BYTES, max_bytes)
  // A byte more, which never comes: the file is not complete, so it is neither checked nor counted as one.
  const file = JSON.stringify({ name: 'doctor', size: Math.min(bytes + 1, max_bytes) })
  const created = await call(
    'POST',
    `/api/conversations/${probe.conversation_id}/attachments`,
    'application/json',
    file,
  )
  // Full, or off in the running service: other findings report this.
  if (created.status !== 201) return []
  const { attachment } = (await created.json()) as { attachment: { id: string } }
  const path = `/api/attachments/${attachment.id}`
  try {
    const part = await call('PUT', `${path}/parts/1`, 'application/octet-stream', new Uint8Array(bytes))
    return judgePart(part.status, { url, bytes })
  } catch (error) {
    // A proxy may close the connection while the body is sent.
    return judgePart(describeFailure(error), { url, bytes })
  } finally {
    await call('DELETE', path, 'application/json').catch(() => {})
  }
}

/** @param result the status, or why there is none */
function judgePart(result: number | string, { url, bytes }: { url: string; bytes: number }): Finding[] {
  const size = `${bytes / 2 ** 20} MiB`
  if (result === 200 || result === 204) return [ok('proxy.body', `A part of a file (${size}) arrives through ${url}.`)]
  // The service itself is full, or busy.
  if (result === 503 || result === 507 || result === 429) return []
  const what = typeof result === 'number' ? `returns status ${result}` : result
  return [
    warning(
      'proxy.body_limit',
      `A part of a file (${size}) does not arrive through ${url}: ${what}. Larger files cannot be uploaded.`,
      'Let the proxy accept bodies of 4 MiB and more (nginx: client_max_body_size 5m, Caddy: request_body max_size).',
    ),
  ]
}
