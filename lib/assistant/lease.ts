import { SECOND } from '../core/units.ts'

/** The lease of an answer, in microseconds; a writer that does not renew it for so long counts as dead. */
export const LEASE = 10 * SECOND
