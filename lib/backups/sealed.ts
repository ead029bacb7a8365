import { setImmediate as turn } from 'node:timers/promises'
import type { ObjectInfo, Objects } from '../storage/objects/objects.ts'
import type { FilesKey } from './files-key.ts'
import { decrypt, encrypt } from './packing.ts'

/** age encrypts this many bytes at a time, and adds 16 to each piece, also to an empty one. */
const PIECE_BYTES = 64 * 1024
const TAG_BYTES = 16

/** The bytes that are encrypted before others have their turn: the service is running. */
const TURN_BYTES = 4 * PIECE_BYTES

/** A place whose objects are encrypted with age. Sizes are those of the objects as they are read; they are read whole. */
export function sealed(objects: Objects, { recipient, identity }: Pick<FilesKey, 'recipient' | 'identity'>): Objects {
  let overhead: Promise<number> | undefined
  /** What is in each encrypted object besides its pieces. */
  const overheadOf = () => (overhead ??= sizeOf(recipient))
  const opened = async ({ key, bytes }: ObjectInfo) => ({ key, bytes: plainSize(bytes - (await overheadOf())) })

  return {
    ...objects,

    async put(key, bytes, how) {
      let size = 0
      async function* counted(): AsyncGenerator<Uint8Array> {
        for await (const chunk of bytes) {
          size += chunk.length
          yield* inTurns(chunk)
        }
      }
      await objects.put(key, await encrypt(counted(), recipient), how)
      return size
    },

    async get(key, { start = 0, signal } = {}) {
      if (start > 0) throw new Error('An encrypted object is read from its start')
      const bytes = await objects.get(key, { ...(signal && { signal }) })
      return bytes && decrypt(bytes, { identity })
    },

    async head(key) {
      const metadata = await objects.head(key)
      return metadata && opened(metadata)
    },

    async list(prefix, how) {
      const page = await objects.list(prefix, how)
      return { ...page, objects: await Promise.all(page.objects.map(opened)) }
    },
  }
}

async function* inTurns(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < chunk.length; at += TURN_BYTES) {
    yield chunk.subarray(at, at + TURN_BYTES)
    await turn()
  }
}

/** @param sealedSize of all pieces */
function plainSize(sealedSize: number): number {
  return sealedSize - TAG_BYTES * Math.ceil(sealedSize / (PIECE_BYTES + TAG_BYTES))
}

/** The size of what is before the first piece: the same for each object of a recipient. */
async function sizeOf(recipient: string): Promise<number> {
  let size = 0
  for await (const chunk of await encrypt(nothing(), recipient)) size += chunk.length
  return size - TAG_BYTES
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
