import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import type { Service } from '../servers/service.ts'

const PART_BYTES = 4 * 1024 * 1024

/** The parts of one file that are sent at the same time, as the client of the service does. */
const AT_ONCE = 3

/** Requests that send and get bytes, with the session of the service's user. */
export interface FileClient {
  /** Uploads a file of `size` bytes, no two of whose parts are the same. @returns its id */
  upload(size: number): Promise<string>
  /** Reads bytes of a file. @returns how long the first of them took, in milliseconds */
  firstByte(id: string, range: string): Promise<number>
}

/** Creates a client with its own connections. @throws Error for any other response than expected */
export function createFileClient({ port, headers, conversationId }: Service): FileClient {
  const agent = new Agent({ keepAlive: true })

  function send(method: string, path: string, more: Record<string, string>, body?: Uint8Array) {
    return new Promise<{ status: number; first: number; body: Buffer }>((resolve, reject) => {
      // The service closes idle connections, maybe at the moment one is used: such a request was not received.
      const fail = (error: Error) => (sent.reusedSocket ? resolve(send(method, path, more, body)) : reject(error))
      const began = performance.now()
      const sent = request({ port, method, path, agent, headers: { ...headers, ...more } }, async (response) => {
        try {
          let first = 0
          const chunks: Buffer[] = []
          for await (const chunk of response) {
            first ||= performance.now() - began
            chunks.push(chunk)
          }
          resolve({ status: response.statusCode!, first, body: Buffer.concat(chunks) })
        } catch (error) {
          reject(error)
        }
      })
      sent.on('error', fail)
      sent.end(body)
    })
  }

  async function sendPart(id: string, n: number, bytes: Buffer): Promise<void> {
    const { status, body } = await send(
      'PUT',
      `/api/attachments/${id}/parts/${n}`,
      { 'content-type': 'application/octet-stream' },
      bytes,
    )
    if (status !== 204 && status !== 200) throw new Error(`part ${n} was answered ${status}: ${body}`)
  }

  return {
    async upload(size) {
      const path = `/api/conversations/${conversationId}/attachments`
      const input = Buffer.from(JSON.stringify({ name: 'bench.bin', size }))
      const { status, body } = await send('POST', path, { 'content-type': 'application/json' }, input)
      if (status !== 201) throw new Error(`an upload was answered ${status}: ${body}`)
      const { attachment, parts } = JSON.parse(String(body)) as { attachment: { id: string }; parts: number }
      const seed = randomBytes(PART_BYTES)
      let next = 1
      const sendNext = async () => {
        const bytes = Buffer.from(seed)
        while (next <= parts) {
          const n = next++
          bytes.writeUInt32LE(n)
          await sendPart(attachment.id, n, n < parts ? bytes : bytes.subarray(0, size - (parts - 1) * PART_BYTES))
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, sendNext))
      return attachment.id
    },

    async firstByte(id, range) {
      const { status, first } = await send('GET', `/api/attachments/${id}/content`, { range })
      if (status !== 206) throw new Error(`a range was answered ${status}`)
      return first
    },
  }
}
