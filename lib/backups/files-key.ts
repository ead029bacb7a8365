import { createHash, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import type { Keys } from './packing.ts'

/** What encrypts the files of messages in backups, and with `identity` decrypts them. */
export interface FilesKey {
  recipient: string
  identity?: string
  /** Names the recipient: files for other recipients have other places, and none is taken for one of this key. */
  fingerprint: string
}

const derive = promisify<string, string, number, object, Buffer>(scrypt)

/** 2^16: 64 MiB for a tenth of a second, in another thread. */
const COST = { N: 2 ** 16, r: 8, p: 1, maxmem: 2 ** 27 }

/**
 * The key of the files of an owner; `undefined` for backups that are not encrypted.
 *
 * Files are many, and a passphrase takes a tenth of a second each time it is used: a key pair is derived from it once.
 */
export async function deriveFilesKey(keys: Keys, owner: string): Promise<FilesKey | undefined> {
  const { passphrase } = keys
  const derived = passphrase && toIdentity(await derive(passphrase, `chat-server files ${owner}`, 32, COST))
  const identity = keys.identity ?? derived
  const recipient = identity === undefined ? keys.recipient : await recipientOf(identity)
  if (recipient === undefined) return undefined
  const fingerprint = createHash('sha256').update(recipient).digest('hex').slice(0, 8)
  return { recipient, fingerprint, ...(identity !== undefined && { identity }) }
}

async function recipientOf(identity: string): Promise<string> {
  // Backups that are not encrypted do without it.
  const { identityToRecipient } = await import('age-encryption')
  return identityToRecipient(identity)
}

const PREFIX = 'age-secret-key-'
const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]

/** 32 bytes as the secret key of age that they are (https://c2sp.org/age#the-x25519-recipient-type; Bech32 of BIP 173). */
export function toIdentity(secret: Uint8Array): string {
  const bits = [...secret].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const words = (bits.match(/.{1,5}/g) ?? []).map((five) => Number.parseInt(five.padEnd(5, '0'), 2))
  const codes = [...PREFIX].map((letter) => letter.charCodeAt(0))
  const expanded = [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)]
  const checksum = polymod([...expanded, ...words, 0, 0, 0, 0, 0, 0]) ^ 1
  const check = [25, 20, 15, 10, 5, 0].map((shift) => (checksum >> shift) & 31)
  return `${PREFIX}1${[...words, ...check].map((word) => ALPHABET[word]).join('')}`.toUpperCase()
}

function polymod(words: readonly number[]): number {
  return words.reduce((sum, word) => {
    const top = sum >>> 25
    const next = ((sum & 0x1ffffff) << 5) ^ word
    return GENERATOR.reduce((mixed, term, n) => ((top >> n) & 1 ? mixed ^ term : mixed), next)
  }, 1)
}
