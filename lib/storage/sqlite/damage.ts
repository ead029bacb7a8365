import { isDamage, toStorageFailure } from '../errors.ts'

/**
 * How long a damaged file is neither read nor written. Not forever: SQLite reports the same for a file that was
 * unreadable for a moment (EIO).
 */
const DAMAGE_MS = 3_000

/** Whether the file may be used; a failure may change it. */
export interface DamageGuard {
  /** @throws Error while the file counts as damaged: its content may be anything */
  assertUsable(): void
  /** Records damage. @returns the failure for the caller */
  toFailure(error: unknown): unknown
}

/** @param assertIntact throws when the file is no longer the opened one */
export function createDamageGuard(assertIntact: () => void): DamageGuard {
  let damage: { found: unknown; until: number } | undefined
  return {
    assertUsable() {
      if (damage && performance.now() < damage.until) throw toStorageFailure(damage.found)
      assertIntact()
    },
    toFailure(error) {
      if (isDamage(error)) damage = { found: error, until: performance.now() + DAMAGE_MS }
      return toStorageFailure(error)
    },
  }
}
