import { createHash } from 'node:crypto'
import { type BlobSizes, sumOfBlobs } from '../../../lib/chat/attachments/store-blobs.ts'
import { fileTotals } from '../../../lib/ops/files/file-collection.ts'
import type { FilesLike } from '../../../lib/storage/objects/unstorage.ts'
import { checkedFetch } from '../../support/answers.ts'
import { filesInFolder } from '../../support/files-folder.ts'
import { innerState, type Person, type ServiceOptions, startService, type TestService } from '../../support/service.ts'

/** The size of a part, as the service has it. */
export const PART = 4 * 1024 * 1024

/** A picture of 3 × 2 pixels, as far as its header tells. */
export const PNG = Buffer.concat([
  Buffer.from('\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR\0\0\0\x03\0\0\0\x02\x08\x06\0\0\0', 'latin1'),
  Buffer.from('<html><script>alert(1)</script>'),
])

/** Bytes without a pattern, the same each time. */
export function bytesOf(size: number, seed = 'files'): Buffer {
  const block = createHash('sha512').update(seed).digest()
  return Buffer.alloc(size, block)
}

/** A service with files in a folder, which is removed at the end of the run. */
export async function startWithFiles(
  url: string,
  { config = {}, ...options }: ServiceOptions & { config?: Record<string, unknown> } = {},
): Promise<TestService & { folder: string }> {
  const attachments = { ...(await filesInFolder()), ...(config.attachments as object) }
  const service = await startService(url, { ...options, config: { ...config, attachments } })
  return Object.assign(service, { folder: attachments.storage.slice('fs:'.length) })
}

/** Requests of a person for bytes, every answer checked: the typed client has none for them. */
export interface Bytes {
  put(id: string, n: number | string, bytes: Uint8Array, headers?: Record<string, string>): Promise<Response>
  read(path: string, headers?: Record<string, string>, method?: string): Promise<Response>
}

/** Requests with an API key, which need no CSRF token. */
export async function bytesFor({ base_url, chat }: TestService, person: Person): Promise<Bytes> {
  const { key } = await chat.keys.create(await chat.users.actor(person.id), { name: 'files' })
  const authorization = `Bearer ${key}`
  return {
    put: (id, n, body, headers = {}) =>
      checkedFetch(`${base_url}/api/attachments/${id}/parts/${n}`, {
        method: 'PUT',
        headers: { authorization, 'content-type': 'application/octet-stream', ...headers },
        body: body as Uint8Array<ArrayBuffer>,
      }),
    read: (path, headers = {}, method = 'GET') =>
      checkedFetch(`${base_url}${path}`, { method, headers: { authorization, ...headers } }),
  }
}

/** Uploads a file in one go. @returns its id */
export async function upload(
  person: Person,
  bytes: Bytes,
  conversation_id: string,
  { name = 'notes.bin', content = bytesOf(1000), type }: { name?: string; content?: Buffer; type?: string } = {},
): Promise<string> {
  const { attachment, parts } = await person.attachments.create(conversation_id, {
    name,
    size: content.length,
    ...(type && { type }),
  })
  for (let n = 1; n <= parts; n++) {
    const response = await bytes.put(attachment.id, n, content.subarray((n - 1) * PART, n * PART))
    if (!response.ok) throw new Error(`part ${n}: ${response.status} ${await response.text()}`)
  }
  return attachment.id
}

/** The size of all blobs as their rows have it, and as it is kept. */
export async function sizesOf({ chat }: TestService): Promise<{ counted: BlobSizes; kept: BlobSizes }> {
  const { bytes, released_bytes } = await fileTotals(innerState(chat))
  return { counted: { bytes, released_bytes }, kept: await sumOfBlobs(innerState(chat).db) }
}

/** The storage of a host, in memory, whose writes a test can fail. */
export function memoryFiles(): FilesLike & { kept: Map<string, Uint8Array>; failing: { put?: Error } } {
  const kept = new Map<string, Uint8Array>()
  const failing: { put?: Error } = {}
  return {
    kept,
    failing,
    getItemRaw: async (key) => kept.get(key) ?? null,
    async setItemRaw(key, value) {
      if (failing.put) throw failing.put
      kept.set(key, Uint8Array.from(value))
    },
    removeItem: async (key) => void kept.delete(key),
    hasItem: async (key) => kept.has(key),
    getKeys: async () => [...kept.keys()],
  }
}
