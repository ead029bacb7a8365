import { DAY, SECOND } from '../../core/units.ts'
import type { UserKind } from '../users/rules.ts'

/** The prefix of the tokens of guests' sessions, which are in cookies or in `Authorization: Bearer`. */
export const GUEST_PREFIX = 'cg_'

const DAY_SECONDS = DAY / SECOND

/** The end of a guest's session, used or not: nothing but use ends it before. */
const MAX_GUEST_DAYS = 3650

/** How long a session lives: unused, and in any case. */
export interface SessionLife {
  idle_seconds: number
  absolute_seconds: number
}

/** The life of the sessions of a user of this kind. A guest who loses the session loses everything: it lives long. */
export function lifeOf(config: { session: SessionLife; guests: { idle_days: number } }, kind: UserKind): SessionLife {
  if (kind === 'person') return config.session
  return { idle_seconds: config.guests.idle_days * DAY_SECONDS, absolute_seconds: MAX_GUEST_DAYS * DAY_SECONDS }
}
