import type { Attachment } from '../api/attachments.ts'
import { ChatError } from '../core/chat-error.ts'
import type { NamesOf } from '../core/known-names.ts'
import { isTransient, pause, spread } from './backoff.ts'
import { refuseUnknown } from './options.ts'
import type { Requester } from './request.ts'
import type { ChatClient, UploadOptions, UploadProgress } from './types.ts'

const UPLOAD_OPTIONS: NamesOf<UploadOptions> = { name: 0, attachment_id: 0, onProgress: 0, signal: 0 }

/** The size of the parts of an upload that another page has begun. */
const PART_BYTES = 4 * 1024 * 1024

/** Browsers open six connections to a server of HTTP/1.1: the stream and other calls need some of them. */
const CONCURRENCY = 3

/** How often a part is sent. With pauses of 1, 2, 4 … 30 seconds, that takes about two minutes. */
const MAX_ATTEMPTS = 8
const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 30_000

/** An upload, and what is missing of it. */
interface Begun {
  attachment: Attachment
  part_bytes: number
  missing: number[]
}

/** What an upload is sent with. */
interface Uploader {
  client: Pick<ChatClient, 'attachments'>
  requester: Requester
  /** The first pause after a failure. */
  retry_ms?: number | undefined
}

/** Uploads a file in parts, as `client.upload` does. */
export async function upload(
  { client: { attachments }, requester, retry_ms = FIRST_PAUSE_MS }: Uploader,
  conversation_id: string,
  file: Blob,
  options: UploadOptions = {},
): Promise<Attachment> {
  refuseUnknown('client.upload', options, UPLOAD_OPTIONS)
  if (typeof file?.size !== 'number') throw new TypeError('client.upload(conversation_id, file, options) needs a Blob')
  const { attachment_id, onProgress, signal } = options
  const call = signal ? { signal } : {}
  const begun =
    attachment_id === undefined
      ? await begin(attachments, conversation_id, file, options)
      : resume(await attachments.get(attachment_id, call), file)
  const { attachment } = begun
  if (attachment.status !== 'uploading') return attachment
  const completed = await sendParts(requester, file, { ...begun, retry_ms, onProgress, signal })
  // The response to the last part was lost, and it was sent again.
  return completed ?? (await attachments.get(attachment.id, call)).attachment
}

async function begin(
  attachments: ChatClient['attachments'],
  conversation_id: string,
  file: Blob,
  { name, signal }: UploadOptions,
): Promise<Begun> {
  const { type, size } = file
  const about = { name: name ?? nameOnDisk(file as File), size, ...(type && { type }) }
  const { attachment, part_bytes, parts } = await attachments.create(conversation_id, about, signal ? { signal } : {})
  return { attachment, part_bytes, missing: listParts(parts) }
}

/** A character with joiners, variation selectors or tags that shape it, or one that is seen alone as nothing. */
const SHAPED_OR_UNSEEN =
  /([#*0-9]\uFE0F\u20E3|[^\0-\u00A0\p{Z}\p{Cf}\p{DI}\u2800](?:\u200C|\u200D|[\uFE00-\uFE0F]|[\u180B-\u180D\u180F]|[\u{E0020}-\u{E007F}]|[\u{E0100}-\u{E01EF}])+)|[\p{Cc}\p{Cf}\p{DI}\u2028\u2029\u2800]/gu

/** The service refuses names with invisible characters, which those of files on a disk may have. */
function nameOnDisk({ name = '' }: File): string {
  return name.replace(SHAPED_OR_UNSEEN, (_, shaped = '') => shaped).trim() || 'file'
}

const listParts = (count: number) => Array.from({ length: count }, (_, n) => n + 1)

/** What is missing of an upload. One stored part is sent again: with another file, it is refused. */
function resume({ attachment, received = [] }: { attachment: Attachment; received?: number[] }, file: Blob): Begun {
  if (attachment.size !== file.size) throw new ChatError('conflict', { status: 409, message: 'This is another file.' })
  const [proof] = received
  const missing = listParts(Math.ceil(file.size / PART_BYTES)).filter((n) => n === proof || !received.includes(n))
  return { attachment, part_bytes: PART_BYTES, missing }
}

interface Sending extends Begun {
  retry_ms: number
  onProgress: ((progress: UploadProgress) => void) | undefined
  signal: AbortSignal | undefined
}

/** Sends the missing parts, a few at once. @returns the attachment, if a response had it */
async function sendParts(requester: Requester, file: Blob, sending: Sending): Promise<Attachment | undefined> {
  const { attachment, part_bytes, missing, retry_ms, onProgress, signal } = sending
  const { size } = file
  const bytesOf = (n: number) => Math.min(n * part_bytes, size) - (n - 1) * part_bytes
  let sent = size - missing.reduce((sum, n) => sum + bytesOf(n), 0)
  let completed: Attachment | undefined
  const report = () => onProgress?.({ attachment: completed ?? attachment, sent, size })
  // The first failure ends the other parts, too.
  const abort = new AbortController()
  const onAbort = () => abort.abort(signal!.reason)
  if (signal?.aborted) onAbort()
  signal?.addEventListener('abort', onAbort)

  async function sendPart(path: string, bytes: Blob): Promise<Attachment | undefined> {
    const response = await requester.request('PUT', path, { bytes, signal: abort.signal })
    return response.status === 204 ? undefined : ((await response.json()) as { attachment: Attachment }).attachment
  }

  async function sendSome(): Promise<void> {
    for (let n = missing.shift(); n !== undefined; n = missing.shift()) {
      const start = (n - 1) * part_bytes
      const bytes = file.slice(start, start + bytesOf(n))
      const path = `/api/attachments/${attachment.id}/parts/${n}`
      completed = (await persistently(() => sendPart(path, bytes), retry_ms, abort.signal)) ?? completed
      sent += bytes.size
      report()
    }
  }

  report()
  try {
    await Promise.all(Array.from({ length: CONCURRENCY }, sendSome))
  } catch (error) {
    abort.abort(error)
    throw error
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
  return completed
}

/** Repeats what fails because the service is not reached, or asks to wait. */
async function persistently<T>(attempt: () => Promise<T>, retry_ms: number, signal: AbortSignal): Promise<T> {
  for (let failures = 1; ; failures++) {
    assertGoesOn(signal)
    try {
      return await attempt()
    } catch (error) {
      assertGoesOn(signal)
      // It was too slow while others waited for its place.
      const isLate = (error as { code?: string }).code === 'request_timeout'
      if ((!isTransient(error) && !isLate) || failures === MAX_ATTEMPTS) throw error
      const { retry_after_seconds = 0 } = error as Partial<ChatError>
      const atLeast = Math.max(retry_ms * 2 ** (failures - 1), retry_after_seconds * 1000)
      await pause(spread(Math.min(MAX_PAUSE_MS, atLeast)), signal)
    }
  }
}

/** As `throwIfAborted`, which React Native does not have, and no reason either. */
function assertGoesOn(signal: AbortSignal): void {
  if (signal.aborted) throw signal.reason ?? new Error('The upload was broken off')
}
