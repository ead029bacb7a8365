import type { AuditEntry } from '../../accounts/audit/store.ts'
import type { Micros } from '../../storage/sql.ts'
import type { BotChanges } from './schema.ts'
import type { BotRow } from './store.ts'

/** What a change makes of a bot, and the entries of the audit log. */
export function planBotChange(
  before: BotRow,
  input: BotChanges,
  { isByOwner, now }: { isByOwner: boolean; now: Micros },
): { after: BotRow; acts: AuditEntry[] } {
  const after = { ...before }
  if (input.username !== undefined) after.username = input.username.normalize('NFC')
  if (input.display_name !== undefined) after.display_name = input.display_name || null
  if (input.description !== undefined) after.description = input.description || null
  if (input.disabled === false || (input.disabled === true && before.disabled_at === null)) {
    after.disabled_at = input.disabled ? now : null
    after.disabled_by_owner = input.disabled && isByOwner ? 1 : 0
  }
  const changed = RECORDED.filter((name) => before[name] !== after[name])
  const acts: AuditEntry[] = changed.length > 0 ? [{ act: 'user.changed', detail: { changed } }] : []
  const isDisabled = after.disabled_at !== null
  if (isDisabled !== (before.disabled_at !== null)) acts.push({ act: isDisabled ? 'user.disabled' : 'user.enabled' })
  return { after, acts }
}

/** The fields whose changes are recorded. */
const RECORDED = ['username', 'display_name', 'description'] as const
