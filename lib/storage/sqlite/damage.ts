import { isDamage, toStorageFailure } from '../errors.ts'

/**
 * How long a damaged file is neither read nor written. Not for ever: SQLite reports the same for one that could not be
 * read for a moment (EIO).
 */
const DAMAGE_MS = 3_000

/** Whether the file may be used, which a failure may change. */
export interface DamageGuard {
  /** @throws Error while the file counts as damaged: what is read of it may be anything */
  assertUsable(): void
  /** Notes damage. @returns the failure that a caller gets */
  toFailure(error: unknown): unknown
}

/** @param assertIntact throws when the file is not the one that was opened any more */
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
