import { assertKey, type ObjectInfo, type Objects, type PutOptions } from './objects.ts'
import { createS3Client, type S3Options, type S3Send } from './s3-client.ts'

export type { S3Options } from './s3-client.ts'

/** Each part is in memory. S3 takes 10,000 parts of one size, except for the last; all but that have at least 5 MiB. */
const PART_BYTES = 8 * 1024 * 1024

/** Every read is a request. */
const READ_BYTES = 4 * 1024 * 1024
const MAX_PARTS = 10_000

/** A download is interrupted when nothing arrives for so long. */
const IDLE_TIMEOUT_MS = 60_000

/** Objects of an S3-compatible bucket. */
export function createBucket(options: S3Options): Objects {
  const send = createS3Client(options)
  const before = options.prefix ? `${options.prefix}/` : ''
  const named = (key: string) => {
    assertKey(key)
    return before + key
  }
  const bucket: Objects = {
    place: `s3://${options.bucket}/${before}`,
    piece_bytes: READ_BYTES,
    put: async (key, bytes, how) => put(send, named(key), bytes, how),

    async get(key, { start = 0, end, signal } = {}) {
      const range = `bytes=${start}-${end ?? ''}`
      const headers: Record<string, string> = range === 'bytes=0-' ? {} : { range }
      const response = await send({ method: 'GET', key: named(key), headers, download: true, signal })
      if (response.status !== 404)
        return withIdleTimeout(response.body ?? new Blob().stream(), options.timeout_ms ?? IDLE_TIMEOUT_MS)
      await assertNoKey(response)
      return undefined
    },

    async head(key) {
      const { status, headers } = await send({ method: 'HEAD', key: named(key) })
      return status === 404 ? undefined : { key, bytes: Number(headers.get('content-length')) }
    },

    async delete(key, { signal } = {}) {
      const response = await send({ method: 'DELETE', key: named(key), signal })
      if (response.status === 404) await assertNoKey(response)
    },

    async list(prefix, { after, limit = 1000 } = {}) {
      const query = {
        'list-type': '2',
        prefix: before + prefix,
        'max-keys': String(limit),
        ...(after && { 'start-after': before + after }),
      }
      const response = await send({ method: 'GET', query })
      const text = await response.text()
      if (response.status === 404) throw new Error(`There is no bucket ${options.bucket}`)
      const objects = [...text.matchAll(/<Contents>(.*?)<\/Contents>/gs)].flatMap(([, entry]): ObjectInfo[] => {
        const key = decodeXml(/<Key>(.*?)<\/Key>/s.exec(entry!)?.[1] ?? '')
        return key.startsWith(before)
          ? [{ key: key.slice(before.length), bytes: Number(/<Size>(\d+)</.exec(entry!)?.[1]) }]
          : []
      })
      const isMore = /<IsTruncated>true</.test(text) && objects.length > 0
      return { objects, ...(isMore && { next: objects.at(-1)!.key }) }
    },

    async *keys() {
      for (let after: string | undefined = ''; after !== undefined; ) {
        const page = await bucket.list('', { after })
        yield* page.objects.map(({ key }) => key)
        after = page.next
      }
    },

    // S3 shows nothing of an upload before its end, and a rule of the bucket deletes what was uploaded of it.
    removeUnfinished: async () => 0,
  }
  return bucket
}

/** @throws Error when it is the bucket that does not exist */
async function assertNoKey(response: Response): Promise<void> {
  if ((await response.text()).includes('NoSuchBucket')) throw new Error('There is no such bucket: create it')
}

async function put(
  send: S3Send,
  key: string,
  bytes: AsyncIterable<Uint8Array>,
  { about_bytes = 0, signal }: PutOptions = {},
): Promise<number> {
  // A tenth more parts than needed: a compressed stream may be longer than was guessed.
  const size = Math.max(PART_BYTES, Math.ceil(about_bytes / (MAX_PARTS * 0.9)))
  const parts = inParts(bytes, size)
  const first = await parts.next()
  const whole = first.value ?? new Uint8Array()
  if (whole.length < size) {
    signal?.throwIfAborted()
    await assertFound(await send({ method: 'PUT', key, body: whole, signal }))
    return whole.length
  }
  const begun = await assertFound(await send({ method: 'POST', key, query: { uploads: '' }, signal }))
  const uploadId = decodeXml(/<UploadId>(.*?)<\/UploadId>/s.exec(await begun.text())?.[1] ?? '')
  if (!uploadId) throw new Error('S3 began no upload')
  try {
    return await putParts({ send, key, uploadId, signal }, whole, parts)
  } catch (error) {
    // The parts that have arrived would cost money. A rule of the bucket may delete those that this request leaves.
    await send({ method: 'DELETE', key, query: { uploadId } }).catch(() => {})
    throw error
  }
}

interface Upload {
  send: S3Send
  key: string
  uploadId: string
  signal: AbortSignal | undefined
}

async function putParts(
  { send, key, uploadId, signal }: Upload,
  first: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
): Promise<number> {
  const tags: string[] = []
  let size = 0
  const putPart = async (body: Uint8Array) => {
    if (tags.length === MAX_PARTS) throw new Error('The object is too large for its parts')
    const query = { partNumber: String(tags.length + 1), uploadId }
    const { headers } = await assertFound(await send({ method: 'PUT', key, query, body, signal }))
    tags.push(headers.get('etag') ?? '')
    size += body.length
  }
  await putPart(first)
  for await (const part of rest) await putPart(part)
  const list = tags.map((tag, n) => `<Part><PartNumber>${n + 1}</PartNumber><ETag>${encodeXml(tag)}</ETag></Part>`)
  const body = `<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`
  const done = await send({ method: 'POST', key, query: { uploadId }, body, signal })
  if (done.status === 404) {
    // The upload no longer exists if it was completed, but the response was lost and the request repeated.
    const { ok, headers } = await send({ method: 'HEAD', key, signal })
    if (ok && Number(headers.get('content-length')) === size) return size
    await assertFound(done)
  }
  // S3 answers 200 before it has joined the parts, and may then fail.
  if ((await done.text()).includes('<Error>')) throw new Error('S3 could not join the parts of the object')
  return size
}

async function assertFound(response: Response): Promise<Response> {
  if (response.status !== 404) return response
  throw new Error(`S3 answers 404: ${/<Code>(\w+)</.exec(await response.text())?.[1] ?? 'there is no such bucket'}`)
}

/** The bytes in parts of exactly `size`; the last one may be shorter. */
async function* inParts(bytes: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array, undefined> {
  let chunks: Uint8Array[] = []
  let length = 0
  for await (let chunk of bytes) {
    while (length + chunk.length >= size) {
      const fitting = chunk.subarray(0, size - length)
      yield Buffer.concat([...chunks, fitting])
      chunk = chunk.subarray(fitting.length)
      chunks = []
      length = 0
    }
    if (chunk.length === 0) continue
    chunks.push(chunk)
    length += chunk.length
  }
  if (length > 0) yield Buffer.concat(chunks)
  return undefined
}

async function* withIdleTimeout(body: ReadableStream<Uint8Array>, ms: number): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { promise, clear } = timeout(ms)
      const result = await Promise.race([reader.read(), promise]).finally(clear)
      if (result.done) return
      yield result.value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function timeout(ms: number): { promise: Promise<never>; clear: () => void } {
  let timer: NodeJS.Timeout
  const promise = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('S3 has stopped sending')), ms)
  })
  return { promise, clear: () => clearTimeout(timer) }
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function decodeXml(text: string): string {
  return text.replace(/&(?:#(\d+)|(\w+));/g, (whole, code, name) =>
    code ? String.fromCodePoint(Number(code)) : (ENTITIES[name] ?? whole),
  )
}

function encodeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
