import type { WellKnownEntry } from '../config/well-known.ts'
import { ChatError } from '../core/errors.ts'
import { useCase } from '../core/use-case.ts'

/**
 * The document that is configured under exactly this path.
 *
 * @throws ChatError `not_found`
 */
export const get = useCase({
  takes: ['path'],
  anytime: true,
  errors: ['not_found'],
  run: ({ config }, path): WellKnownEntry => {
    const entry = config.well_known.entries.find((document) => document.path === path)
    if (!entry) throw new ChatError('not_found')
    return entry
  },
})
