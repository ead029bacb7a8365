import { availableParallelism } from 'node:os'
import { createHashQueue, type HashCaller } from './hash-queue.ts'

/**
 * bcrypt ignores the rest (https://www.usenix.org/legacy/events/usenix99/provos.html): longer passwords are refused.
 */
export const MAX_PASSWORD_BYTES = 72

/** Hashes and checks passwords, a few at a time: each takes a thread and, at cost 12, a fifth of a second. */
export interface Passwords {
  /** @throws ChatError `unavailable` when too many hashes wait, in all, of the user or of the network */
  hash(password: string, caller: HashCaller): Promise<string>
  /**
   * Whether the password is correct. Without a hash it returns false after the same work, also if existing hashes have
   * another cost than new ones.
   *
   * @throws ChatError `unavailable` when too many hashes wait, in all, of the user or of the network
   */
  verify(password: string, hash: string | null | undefined, caller: HashCaller): Promise<boolean>
  /** Whether a hash has a lower cost than the configured one. */
  isOutdated(hash: string): boolean
}

/** The two functions of bcrypt, with types of our own: published types name no package. */
export interface Bcrypt {
  hash(password: string, options: { cost: number; rejectLongPasswords: boolean }): Promise<string>
  verify(password: string, hash: string): Promise<boolean>
}

/** Loaded with the first password: a host with its own authentication has none, and does not need the addon. */
const lazyBcrypt: Bcrypt = {
  hash: async (password, options) => (await loadBcrypt()).hash(password, options),
  verify: async (password, hash) => (await loadBcrypt()).verify(password, hash),
}

/** @throws Error when the addon, which is an optional package of @node-rs/bcrypt, is not installed */
export async function loadBcrypt(): Promise<Bcrypt> {
  try {
    return await import('@node-rs/bcrypt')
  } catch (cause) {
    throw new Error('Passwords need the addon of @node-rs/bcrypt: install it without --omit=optional', { cause })
  }
}

/**
 * @param cost the base-2 logarithm of bcrypt's rounds
 * @param bcrypt tests pass one that counts the work
 */
export function createPasswords(cost: number, bcrypt: Bcrypt = lazyBcrypt): Passwords {
  const queued = createHashQueue(Math.max(1, availableParallelism() - 1))
  // The cost of a wrong password. Hashes with a higher cost remain after the configured cost was lowered.
  let failure_cost = cost

  /** Each round doubles the work, so that 2^from + 2^from + 2^(from + 1) + … + 2^(to - 1) = 2^to. */
  async function addWork(password: string, from: number, to: number): Promise<void> {
    for (let step = from; step < to; step++) await bcrypt.verify(password, hashOfNothing(step))
  }

  async function compare(password: string, stored: string | undefined): Promise<boolean> {
    if (stored === undefined) {
      await bcrypt.verify(password, hashOfNothing(failure_cost))
      return false
    }
    const stored_cost = costOf(stored)
    if (await bcrypt.verify(password, stored)) return true
    failure_cost = Math.max(failure_cost, stored_cost)
    await addWork(password, stored_cost, failure_cost)
    return false
  }

  return {
    hash: (password, caller) =>
      queued(caller, () => bcrypt.hash(password.normalize('NFKC'), { cost, rejectLongPasswords: true })),
    verify: (password, stored, caller) => {
      const normal = password.normalize('NFKC')
      const fits = Buffer.byteLength(normal) <= MAX_PASSWORD_BYTES
      // An invalid hash would otherwise be refused sooner than a wrong password.
      const isHash = typeof stored === 'string' && /^\$2[aby]\$\d\d\$[./0-9A-Za-z]{53}$/.test(stored)
      return queued(caller, () => compare(fits ? normal : '', isHash && fits ? stored : undefined))
    },
    isOutdated: (stored) => costOf(stored) < cost,
  }
}

/** The cost of a hash: `$2b$12$…`. */
function costOf(hash: string): number {
  return Number(hash.slice(4, 6))
}

/** A hash of the given cost that matches no password. */
function hashOfNothing(cost: number): string {
  return `$2b$${String(cost).padStart(2, '0')}$abcdefghijklmnopqrstu.abcdefghijklmnopqrstuvwxyz0123u`
}
