import type { WellKnownEntry } from '../config/well-known.ts'
import type { Context } from '../context.ts'
import { ChatError } from '../core/errors.ts'

/**
 * The document that is configured under exactly this path.
 *
 * @throws ChatError `not_found`
 */
export function get({ config }: Context, path: string): WellKnownEntry {
  const entry = config.well_known.entries.find((each) => each.path === path)
  if (!entry) throw new ChatError('not_found')
  return entry
}
