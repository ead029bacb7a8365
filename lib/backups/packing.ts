import { pipeline, Readable } from 'node:stream'
import { createGunzip, createGzip } from 'node:zlib'
import type { Recipient } from 'age-encryption'
import { passphraseRecipient } from './passphrase.ts'

/** How backups are encrypted, and decrypted. */
export interface Keys {
  passphrase?: string | undefined
  /** Former ones, which decrypt what was encrypted with them. */
  previous_passphrases?: readonly string[] | undefined
  /** A public key of age. */
  recipient?: string | undefined
  /** The secret key to it, `AGE-SECRET-KEY-…`. */
  identity?: string | undefined
}

/** Whether backups are encrypted with these keys. */
export function isEncrypting({ passphrase, recipient }: Keys): boolean {
  return passphrase !== undefined || recipient !== undefined
}

/** All that decrypt, the current one first. */
export function listPassphrases({ passphrase, previous_passphrases = [] }: Keys): string[] {
  return [...(passphrase === undefined ? [] : [passphrase]), ...previous_passphrases]
}

/** The end of the names of files that {@link pack} makes. */
export function fileExtension(keys: Keys): string {
  return isEncrypting(keys) ? '.gz.age' : '.gz'
}

/** Compresses a stream, and encrypts it if there is a key. */
export async function pack(bytes: AsyncIterable<Uint8Array>, keys: Keys): Promise<AsyncIterable<Uint8Array>> {
  const zipped = through(bytes, createGzip())
  if (!isEncrypting(keys)) return zipped
  return encrypt(zipped, keys.recipient ?? passphraseRecipient(keys.passphrase!))
}

/** Encrypts a stream with age. */
export async function encrypt(
  bytes: AsyncIterable<Uint8Array>,
  recipient: string | Recipient,
): Promise<AsyncIterable<Uint8Array>> {
  const { Encrypter } = await import('age-encryption')
  const encrypter = new Encrypter()
  encrypter.addRecipient(recipient)
  return encrypter.encrypt(toWeb(bytes))
}

const CUT = 'The backup is cut off or damaged'

/** A backup that was compressed, encrypted and compressed again by another program has three; each more would be a trap. */
const MAX_LAYERS = 4

/** How a file that begins with these bytes is packed: either way changed bytes are noticed when it is unpacked. */
export function detectPacking(first: Buffer): 'age' | 'gzip' | undefined {
  if (first.toString('latin1').startsWith('age-encryption.org/')) return 'age'
  return first[0] === 0x1f && first[1] === 0x8b ? 'gzip' : undefined
}

/**
 * Undoes {@link pack}, in whatever way a file is packed; others are returned as they are.
 *
 * @throws Error while it is read, when the file is cut off, or encrypted for another key
 */
export async function* unpack(
  bytes: AsyncIterable<Uint8Array>,
  keys: Keys,
  layers = MAX_LAYERS,
): AsyncGenerator<Uint8Array> {
  const { first, all } = await peek(bytes)
  const packing = layers > 0 ? detectPacking(first) : undefined
  if (packing === undefined) return yield* all
  if (packing === 'age') return yield* unpack(await decrypt(all, keys), keys, layers - 1)
  try {
    yield* unpack(through(all, createGunzip()), keys, layers - 1)
  } catch (cause) {
    if (String((cause as NodeJS.ErrnoException).code).startsWith('Z_')) throw new Error(CUT, { cause })
    throw cause
  }
}

/** Undoes {@link encrypt}. @throws Error without a key, with another one, and when it is cut off or damaged */
export async function decrypt(bytes: AsyncIterable<Uint8Array>, keys: Keys): Promise<AsyncIterable<Uint8Array>> {
  const passphrases = listPassphrases(keys)
  if (passphrases.length === 0 && keys.identity === undefined)
    throw new Error('The backup is encrypted: set backup.passphrase, or pass the secret key with --identity')
  const { Decrypter } = await import('age-encryption')
  const decrypter = new Decrypter()
  for (const passphrase of passphrases) decrypter.addPassphrase(passphrase)
  if (keys.identity !== undefined) decrypter.addIdentity(keys.identity)
  try {
    const decrypted: AsyncIterable<Uint8Array> = await decrypter.decrypt(toWeb(bytes))
    return readable(decrypted)
  } catch (cause) {
    if (/no identity matched/.test((cause as Error).message))
      throw new Error('The backup cannot be decrypted: it was encrypted with another passphrase or key', { cause })
    throw new Error(CUT, { cause })
  }
}

async function* readable(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes
  } catch (cause) {
    throw new Error(CUT, { cause })
  }
}

function toWeb(bytes: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
    },
    cancel: async () => void (await iterator.return?.()),
  })
}

/** The bytes after a transform; an error of either side is an error of the result. */
function through(bytes: AsyncIterable<Uint8Array>, transform: NodeJS.ReadWriteStream): AsyncIterable<Uint8Array> {
  // The reader gets the error; without one it would end the process.
  transform.on('error', () => {})
  pipeline(Readable.from(bytes), transform, () => {})
  return transform as unknown as AsyncIterable<Uint8Array>
}

/** The first bytes of a stream, and all of them. */
export async function peek(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ first: Buffer; all: AsyncIterable<Uint8Array> }> {
  const iterator = bytes[Symbol.asyncIterator]()
  const read: Uint8Array[] = []
  let length = 0
  while (length < 64) {
    const { done, value } = await iterator.next()
    if (done) break
    read.push(value)
    length += value.length
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    yield* read
    try {
      for (;;) {
        const { done, value } = await iterator.next()
        if (done) return
        yield value
      }
    } finally {
      await iterator.return?.()
    }
  }
  return { first: Buffer.concat(read).subarray(0, 64), all: all() }
}
