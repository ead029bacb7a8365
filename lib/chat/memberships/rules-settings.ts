import type { Micros } from '../../storage/sql.ts'
import type { ConversationPolicy, Level, PolicyChange } from '../conversations/schema-settings.ts'

/** What the policy of a conversation, and the level of its participants, depend on. */
export interface PolicyColumns {
  is_direct: number
  /** As JSON: the values that differ from the defaults; `null` is none. */
  policy: string | null
}

/** The stored settings of a participant; `null` is the default. */
export interface SettingsColumns {
  is_direct: number
  level: Level | null
  muted_until: Micros | null
  archived: number
  favourite: number
  receipts: number
}

/** A participant with the settings that decide about notifications. */
export interface ParticipantSettings extends Omit<SettingsColumns, 'is_direct' | 'favourite' | 'receipts'> {
  user_id: string
}

/** The policy of a conversation. In a direct one, both people see what the other one has read. */
export function toPolicy({ is_direct, policy }: PolicyColumns): ConversationPolicy {
  const defaults: ConversationPolicy = { mention_all: 'admins', receipts: is_direct === 1 ? 'on' : 'off' }
  return policy === null ? defaults : { ...defaults, ...(JSON.parse(policy) as Partial<ConversationPolicy>) }
}

/** The changed policy, as it is stored: `null` removes a value. */
export function changedPolicy(policy: string | null, change: PolicyChange): string {
  const changed = Object.entries({ ...(policy === null ? {} : JSON.parse(policy)), ...change })
  return JSON.stringify(Object.fromEntries(changed.filter(([, value]) => value !== null)))
}

/**
 * The level of a participant. In a direct conversation it is `all`, unless the participant has chosen another.
 *
 * @param defaultLevel of other conversations: `notifications.default_level`
 */
export function levelOf(
  { level, is_direct }: Pick<SettingsColumns, 'level' | 'is_direct'>,
  defaultLevel: Level,
): Level {
  return level ?? (is_direct === 1 ? 'all' : defaultLevel)
}

/** The stored `muted_until` of a conversation that is muted without an end. */
export const FOREVER: Micros = Number.MAX_SAFE_INTEGER

/** Whether a participant has muted a conversation. */
export function isMuted(muted_until: Micros | null, now: Micros): boolean {
  return muted_until !== null && muted_until > now
}
