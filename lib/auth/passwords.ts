import { availableParallelism } from 'node:os'
import { hash, parseOptions, verify } from '@node-rs/bcrypt'
import { ChatError } from '../errors.ts'

/** bcrypt reads no further (https://www.usenix.org/legacy/events/usenix99/provos.html): longer passwords are refused. */
export const MAX_PASSWORD_BYTES = 72

/** How many callers may wait for a hash; later ones are told to come back. */
const QUEUE_LENGTH = 64

/** Hashes and checks passwords, a few at a time: each takes a thread and, at cost 12, a fifth of a second. */
export interface Passwords {
  hash(password: string): Promise<string>
  /** Whether the password is right; without a hash to compare with it is not, after the same work. */
  verify(password: string, hash: string | null | undefined): Promise<boolean>
  /** Whether a hash was made with less work than is asked for today. */
  isOutdated(hash: string): boolean
}

/** @param cost the base-2 logarithm of bcrypt's rounds */
export function createPasswords(cost: number): Passwords {
  // A hash of nothing, of the same cost, so that an unknown account takes as long as a wrong password.
  const nobody = `$2b$${String(cost).padStart(2, '0')}$abcdefghijklmnopqrstu.abcdefghijklmnopqrstuvwxyz0123u`
  const limited = createQueue(Math.max(1, availableParallelism() - 1), QUEUE_LENGTH)
  return {
    hash: (password) => limited(() => hash(password.normalize('NFKC'), { cost, rejectLongPasswords: true })),
    verify: (password, stored) => {
      const normal = password.normalize('NFKC')
      const fits = Buffer.byteLength(normal) <= MAX_PASSWORD_BYTES
      // What is no hash would be told from a wrong password by how soon it is refused.
      const isHash = typeof stored === 'string' && /^\$2[aby]\$\d\d\$[./0-9A-Za-z]{53}$/.test(stored)
      return limited(async () => (await verify(fits ? normal : '', isHash && fits ? stored : nobody)) && fits && isHash)
    },
    isOutdated: (stored) => parseOptions(stored).cost < cost,
  }
}

function createQueue(running: number, length: number) {
  const waiting: (() => void)[] = []
  let free = running
  return async <T>(job: () => Promise<T>): Promise<T> => {
    if (free === 0) {
      if (waiting.length >= length) throw new ChatError('unavailable', { retry_after_seconds: 5 })
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else free--
    try {
      return await job()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
